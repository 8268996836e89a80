// Pools: a block stays live when its pool is destroyed; mixed pairs of allocation and free are legal; the stream's
// handle may come back.
// simulated: 6
// expect direct 40960 in 1 at @outlives kind device
// expect direct 20480 in 1 at @fallback kind pinned
// expect kind device allocations 4
// expect kind device live 40960
#include "simulated.h"

int main(void) {
  struct pool_properties about = {.type = 1, .location_type = 1, .device = 1};
  void *pool, *stream, *block, *kept;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipMemPoolCreate(&pool, &about));
  CHECK(hipMallocFromPoolAsync(&kept, 40960, pool, stream)); // @outlives
  CHECK(hipMallocAsync(&block, 4096, stream));
  CHECK(hipFree(block));
  CHECK(hipMalloc(&block, 8192));
  CHECK(hipFreeAsync(block, stream));
  REFUSE(hipFreeAsync(block, stream)); // freed already
  CHECK(hipHostMalloc(&block, 10240, 0));
  CHECK(hipFree(block));
  CHECK(hipHostMalloc(&block, 20480, 0)); // @fallback
  CHECK(hipMallocAsync(&block, 4096, NULL));
  CHECK(hipFreeAsync(block, NULL));
  CHECK(hipStreamDestroy(stream));
  CHECK(hipMemPoolDestroy(pool));
  return 0;
}
