// hipDeviceReset takes what is the device's own, nothing of it is lost; host and managed memory stay, and the other
// device's.
// simulated: 6
// expect direct 4096 in 1 at @host kind pinned
// expect direct 8192 in 1 at @managed kind managed
// expect direct 12288 in 1 at @other kind device
// expect kind device allocations 3
// expect kind device live 12288
#include "simulated.h"

int main(void) {
  void *block, *stream;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipMalloc(&block, 1 << 20));
  CHECK(hipMallocAsync(&block, 2 << 20, stream));
  CHECK(hipHostMalloc(&block, 4096, 0));    // @host
  CHECK(hipMallocManaged(&block, 8192, 1)); // @managed
  CHECK(hipSetDevice(1));
  CHECK(hipMalloc(&block, 12288)); // @other
  CHECK(hipSetDevice(0));
  CHECK(hipDeviceReset());
  REFUSE(hipFree((void *)0x1000));
  return 0;
}
