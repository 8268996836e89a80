// Memory of the host by functions that make device memory otherwise (7.0): a handle of it, and pools of it or of
// managed memory. None of it is a device's.
// simulated: 7
// expect direct 4194304 in 1 at @handle kind pinned
// expect direct 20480 in 1 at @host_pool kind pinned
// expect direct 28672 in 1 at @managed_pool kind managed
// expect direct 12288 in 1 at @device_pool kind device
// expect kind device peak 12288
// expect kind pinned allocations 3
#include "simulated.h"

int hipDeviceSetMemPool(int, void *);
int hipDeviceGetMemPool(void **, int);

enum { DEVICE = 1, HOST, NUMA_NODE };
enum { PINNED = 1, MANAGED };

int main(void) {
  struct properties on_host = {PINNED, 0, HOST, 0}, on_node = {PINNED, 0, NUMA_NODE, 1};
  struct pool_properties host = {PINNED, 0, HOST, 0}, managed = {MANAGED, 0, DEVICE, 0},
                         device = {PINNED, 0, DEVICE, 1};
  void *handle, *other, *pool, *block;
  CHECK(hipMemCreate(&handle, 4 << 20, &on_host, 0)); // @handle
  CHECK(hipMemCreate(&other, 8 << 20, &on_node, 0));
  CHECK(hipMemRelease(other));
  REFUSE(hipMemCreate(&other, 1ul << 46, &on_host, 0)); // no device has too little
  CHECK(hipMemPoolCreate(&pool, &host));
  CHECK(hipMallocFromPoolAsync(&block, 20480, pool, NULL)); // @host_pool
  CHECK(hipMemPoolCreate(&pool, &managed));
  CHECK(hipDeviceSetMemPool(0, pool));
  CHECK(hipDeviceGetMemPool(&pool, 0));
  CHECK(hipMallocFromPoolAsync(&block, 28672, pool, NULL)); // @managed_pool
  CHECK(hipMemPoolCreate(&pool, &device));
  CHECK(hipMallocFromPoolAsync(&block, 12288, pool, NULL)); // @device_pool
  return 0;
}
