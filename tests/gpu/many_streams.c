// More streams than are followed over time, as a framework makes them: the last one is allocated on, and then a second
// device is used.
// simulated: 6
#include "simulated.h"

int main(void) {
  void *block, *stream;
  for (int i = 0; i < 300; i++) CHECK(hipStreamCreate(&stream));
  CHECK(hipMallocAsync(&block, 1 << 20, stream));
  usleep(100000); // several samples
  CHECK(hipSetDevice(1));
  CHECK(hipMalloc(&block, 4 << 20));
  usleep(100000);
  return 0;
}
