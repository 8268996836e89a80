// Memory of graphs lives until a node frees it, or until the graph and what was made of it are gone; the same for what
// is allocated on a captured stream.
// simulated: 6
// expect direct 3145728 in 1 at @kept kind device
// expect direct 24576 in 1 at @captured kind device
// expect kind device allocations 5
// expect kind device live 3170304
#include "simulated.h"

int main(void) {
  struct alloc_node about = {.bytes = 1 << 20};
  void *graph, *exec, *node, *stream, *block, *captured;
  CHECK(hipGraphCreate(&graph, 0));
  CHECK(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &about));
  CHECK(hipGraphAddMemFreeNode(&node, graph, &node, 1, about.pointer));
  about.bytes = 2 << 20;
  CHECK(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &about));
  CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipGraphExecDestroy(exec)); // the second block goes here
  CHECK(hipGraphCreate(&graph, 0));
  about.bytes = 3 << 20;
  CHECK(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &about)); // @kept
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamBeginCapture(stream, 0));
  CHECK(hipMallocAsync(&block, 16384, stream));
  CHECK(hipStreamEndCapture(stream, &captured));
  CHECK(hipGraphDestroy(captured));
  CHECK(hipStreamBeginCapture(stream, 0));
  CHECK(hipMallocAsync(&block, 24576, stream)); // @captured
  CHECK(hipStreamEndCapture(stream, &captured));
  return 0;
}
