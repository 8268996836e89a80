// A graph's handle is given to the next graph while executables of the first still hold its memory: each has its own.
// simulated: 6
// expect direct 2097152 in 1 at @by_executable kind device
// expect direct 8388608 in 1 at @by_graph kind device
// expect kind device live 10485760
// expect kind device peak 10485760
// expect kind device allocations 4
#include "simulated.h"

static void *graph_make(void *wanted) {
  void *graph;
  CHECK(hipGraphCreate(&graph, 0));
  if (wanted && graph != wanted) told("another handle", __LINE__, 0);
  return graph;
}

int main(void) {
  struct alloc_node first_about = {.bytes = 1 << 20}, about = {.bytes = 2 << 20};
  void *node, *first, *second, *third;
  void *graph = graph_make(NULL), *handle = graph;
  CHECK(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &first_about));
  CHECK(hipGraphInstantiate(&first, graph, NULL, NULL, 0));
  CHECK(hipGraphDestroy(graph));
  graph = graph_make(handle);
  CHECK(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &about)); // @by_executable
  CHECK(hipGraphInstantiate(&second, graph, NULL, NULL, 0));
  CHECK(hipGraphDestroy(graph));
  graph = graph_make(handle);
  about.bytes = 3 << 20;
  CHECK(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &about));
  CHECK(hipGraphExecDestroy(first)); // nothing of the second's and of the third's
  CHECK(hipGraphInstantiate(&third, graph, NULL, NULL, 0));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipGraphExecDestroy(third));
  graph = graph_make(handle);
  about.bytes = 8 << 20;
  CHECK(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &about)); // @by_graph
  CHECK(hipGraphInstantiate(&third, graph, NULL, NULL, 0));
  CHECK(hipGraphExecDestroy(third));
  return 0;
}
