// More streams than are told apart: those beyond count with the last one, and their memory with its own device.
// simulated: 6
// expect direct 1048576 in 1 at @first kind device
// expect direct 2097152 in 1 at @second kind device
// expect kind device live 3145728
#include "simulated.h"

enum { STREAMS = 4100 }; // GPU_STREAMS_MAX is 4096

int main(void) {
  void *stream, *block;
  for (int i = 0; i < STREAMS; i++) {
    CHECK(hipStreamCreate(&stream));
    CHECK(hipMallocAsync(&block, 4096, stream));
    CHECK(hipFreeAsync(block, stream));
    CHECK(hipStreamDestroy(stream));
  }
  CHECK(hipStreamCreate(&stream));
  CHECK(hipMallocAsync(&block, 1 << 20, stream)); // @first
  CHECK(hipSetDevice(1));
  CHECK(hipStreamCreate(&stream));
  CHECK(hipMallocAsync(&block, 2 << 20, stream)); // @second
  return 0;
}
