// Memory of a device that is not the thread's: by the stream, by a pool (one of the program's, the device's own), by
// what a handle or a graph's node says. What is refused was refused by that device.
// simulated: 6
// expect direct 2097152 in 1 at @of_stream kind device
// expect direct 3145728 in 1 at @of_pool kind device
// expect direct 5242880 in 1 at @of_own_pool kind device
// expect direct 6291456 in 1 at @of_handle kind device
// expect direct 7340032 in 1 at @of_node kind device
#include "simulated.h"

int hipDeviceGetDefaultMemPool(void **, int);
int hipDeviceGetMemPool(void **, int);
struct node_parameters {
  int type, reserved[3];
  struct alloc_node alloc;
};
int hipGraphAddNode(void **, void *, void *const *, size_t, struct node_parameters *);

int main(void) {
  struct pool_properties about = {1, 0, 1, 1};
  struct properties physical = {1, 0, 1, 1};
  struct alloc_node node_about = {.pool = about, .bytes = 7 << 20};
  void *stream, *pool, *own_pool, *graph, *made;
  CHECK(hipSetDevice(1));
  CHECK(hipStreamCreate(&stream));
  CHECK(hipSetDevice(0));
  CHECK(hipMemPoolCreate(&pool, &about));
  CHECK(hipDeviceGetDefaultMemPool(&own_pool, 1));
  CHECK(hipDeviceGetMemPool(&own_pool, 1));
  CHECK(hipGraphCreate(&graph, 0));
  CHECK(hipMallocAsync(&made, 2 << 20, stream));                      // @of_stream
  CHECK(hipMallocFromPoolAsync(&made, 3 << 20, pool, NULL));          // @of_pool
  CHECK(hipMallocFromPoolAsync(&made, 5 << 20, own_pool, NULL));      // @of_own_pool
  CHECK(hipMemCreate(&made, 6 << 20, &physical, 0));                  // @of_handle
  CHECK(hipGraphAddMemAllocNode(&made, graph, NULL, 0, &node_about)); // @of_node
  REFUSE(hipMallocAsync(&made, 1ul << 45, stream));
  REFUSE(hipMallocFromPoolAsync(&made, 2ul << 45, pool, NULL));
  REFUSE(hipMallocFromPoolAsync(&made, 3ul << 45, own_pool, NULL));
  REFUSE(hipMemCreate(&made, 4ul << 45, &physical, 0));
  node_about.bytes = 5ul << 45;
  REFUSE(hipGraphAddMemAllocNode(&made, graph, NULL, 0, &node_about));
  struct node_parameters any_node = {.type = 10, .alloc = node_about};
  any_node.alloc.bytes = 6ul << 45;
  REFUSE(hipGraphAddNode(&made, graph, NULL, 0, &any_node));
  return 0;
}
