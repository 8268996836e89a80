// Functions of releases after 5.2, and the rest of what the recorder knows: each where it makes, hands on or frees
// memory, or finds a function that does.
// simulated: 7
// expect direct 1048576 in 1 at @node kind device
// expect direct 16384 in 1 at @thread_capture kind device
// expect direct 32768 in 1 at @graph_capture kind device
// expect direct 0 in 1 at @imported_block kind device
// expect direct 0 in 1 at @imported_handle kind device
// expect direct 4096 in 1 at @by_name kind device
// expect direct 8192 in 1 at @by_entry kind device
// expect kind device live 1110016
// expect kind device allocations 12
#include "simulated.h"

struct node_parameters {
  int type, reserved[3];
  union {
    struct alloc_node alloc;
    void *freed;
  };
};
int hipGraphAddNode(void **, void *, void *const *, size_t, struct node_parameters *);
int hipDrvGraphAddMemFreeNode(void **, void *, void *const *, size_t, void *);
int hipGraphInstantiateWithFlags(void **, void *, unsigned long long);
int hipGraphInstantiateWithParams(void **, void *, void *);
int hipStreamBeginCapture_spt(void *, int);
int hipStreamEndCapture_spt(void *, void **);
int hipStreamBeginCaptureToGraph(void *, void *, void *const *, const void *, size_t, int);
int hipMemPoolImportFromShareableHandle(void **, void *, int, unsigned);
int hipMemPoolImportPointer(void **, void *, void *);
int hipMemImportFromShareableHandle(void **, void *, int);
int hipExecutionCtxStreamCreate(void **, void *, unsigned, int);
int hipExtStreamCreateWithCUMask(void **, uint32_t, const uint32_t *);
int hipStreamCreateWithPriority(void **, unsigned, int);
int hipGetDriverEntryPoint(const char *, void **, unsigned long long, int *);
int hipGetDriverEntryPoint_spt(const char *, void **, unsigned long long, int *);
int hipGetProcAddress_spt(const char *, void **, int, uint64_t, int *);
int hipGetDevice(int *);
int hipDeviceTotalMem(size_t *, int);
int hipGetDeviceProperties(void *, int);
int hipMemGetInfo(size_t *, size_t *);

#define ALLOC 10 // hipGraphNodeTypeMemAlloc
#define FREE 11

// Of the first graph everything goes: one block by each kind of node, one with the graph.
static void graphs(void) {
  struct node_parameters make = {.type = ALLOC, .alloc.bytes = 1 << 20}, give = {.type = FREE};
  void *graph, *kept, *node, *exec, *other;
  CHECK(hipGraphCreate(&graph, 0));
  CHECK(hipGraphAddNode(&node, graph, NULL, 0, &make));
  give.freed = make.alloc.pointer;
  CHECK(hipGraphAddNode(&node, graph, &node, 1, &give));
  CHECK(hipGraphAddNode(&node, graph, NULL, 0, &make));
  CHECK(hipDrvGraphAddMemFreeNode(&node, graph, &node, 1, make.alloc.pointer));
  CHECK(hipGraphAddNode(&node, graph, NULL, 0, &make));
  CHECK(hipGraphInstantiateWithFlags(&exec, graph, 0));
  CHECK(hipGraphInstantiateWithParams(&other, graph, NULL));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipGraphExecDestroy(exec));
  CHECK(hipGraphExecDestroy(other));
  CHECK(hipGraphCreate(&kept, 0));
  CHECK(hipGraphAddNode(&node, kept, NULL, 0, &make)); // @node
}

static void captures(void) {
  uint32_t mask = 1;
  void *one, *two, *three, *graph, *block;
  CHECK(hipExecutionCtxStreamCreate(&one, NULL, 0, 0));
  CHECK(hipExtStreamCreateWithCUMask(&two, 1, &mask));
  CHECK(hipStreamCreateWithPriority(&three, 0, 0));
  CHECK(hipStreamBeginCapture_spt(one, 0));
  CHECK(hipMallocAsync(&block, 16384, one)); // @thread_capture
  CHECK(hipStreamEndCapture_spt(one, &graph));
  CHECK(hipGraphCreate(&graph, 0));
  CHECK(hipStreamBeginCaptureToGraph(two, graph, NULL, NULL, 0, 0));
  CHECK(hipMallocAsync(&block, 32768, two)); // @graph_capture
  CHECK(hipStreamEndCapture(two, &graph));
  CHECK(hipStreamDestroy(three));
}

static void imports(void) {
  void *pool, *block, *handle;
  int file = -1;
  char data[64] = "";
  CHECK(hipMemPoolImportFromShareableHandle(&pool, &file, 1, 0));
  for (int i = 0; i < 2; i++) {
    CHECK(hipMemPoolImportPointer(&block, pool, data)); // @imported_block
    if (i == 0) CHECK(hipFreeAsync(block, NULL));
    CHECK(hipMemImportFromShareableHandle(&handle, &file, 1)); // @imported_handle
    if (i == 0) CHECK(hipMemRelease(handle));
  }
}

static void names(void) {
  int (*by_name)(void **, size_t) = NULL, (*by_entry)(void **, size_t) = NULL, (*same)(void **, size_t) = NULL, found;
  void *block;
  CHECK(hipGetProcAddress_spt("hipMalloc", (void **)&by_name, 70000000, 0, &found));
  CHECK(hipGetDriverEntryPoint("hipMalloc", (void **)&by_entry, 0, &found));
  CHECK(hipGetDriverEntryPoint_spt("hipMalloc", (void **)&same, 0, &found));
  CHECK(by_name != by_entry || by_entry != same);
  CHECK(by_name(&block, 4096));  // @by_name
  CHECK(by_entry(&block, 8192)); // @by_entry
}

int main(void) {
  static char properties[4096];
  size_t free_bytes, total_bytes;
  int device;
  CHECK(hipGetDevice(&device));
  CHECK(hipDeviceTotalMem(&total_bytes, device));
  CHECK(hipMemGetInfo(&free_bytes, &total_bytes));
  CHECK(hipGetDeviceProperties(properties, device));
  CHECK(hipGetDevicePropertiesR0600(properties, device));
  graphs();
  captures();
  imports();
  names();
  return 0;
}
