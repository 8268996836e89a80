// Pinned memory that is refused is no want of the device's, whose memory that is refused is.
// simulated: 6
// expect direct 4096 in 1 at @kept kind pinned
// expect kind device allocations 0
#include "simulated.h"

int hipHostAlloc(void **, size_t, unsigned);
int hipMallocHost(void **, size_t);
int hipMemAllocHost(void **, size_t);

int main(void) {
  void *block;
  CHECK(hipHostMalloc(&block, 4096, 0)); // @kept
  REFUSE(hipHostMalloc(&block, 1ul << 50, 0));
  REFUSE(hipHostAlloc(&block, 1ul << 50, 0));
  REFUSE(hipMallocHost(&block, 1ul << 50));
  REFUSE(hipMemAllocHost(&block, 1ul << 50));
  REFUSE(hipMalloc(&block, 1ul << 50)); // @refused
  return 0;
}
