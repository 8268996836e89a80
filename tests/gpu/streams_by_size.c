// Streams of which the later ones hold more than the first.
// simulated: 6
#include "simulated.h"

int main(void) {
  void *block, *stream;
  for (int i = 1; i <= 12; i++) {
    CHECK(hipStreamCreate(&stream));
    CHECK(hipMallocAsync(&block, (size_t)(i == 5 ? 100 : i) << 12, stream));
  }
  usleep(50000); // several samples
  return 0;
}
