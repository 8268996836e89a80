// Holds VRAM and works on until it is killed. What it holds stands before the first word that it prints; its blocks of
// the loop come and go.
// simulated: 6
#include "simulated.h"

static NOINLINE void hold(void) {
  void *block;
  CHECK(hipMalloc(&block, 1 << 20)); // @held
}

int main(void) {
  void *stream, *block;
  for (int i = 0; i < 5; i++) hold();
  CHECK(hipStreamCreate(&stream));
  CHECK(hipMallocAsync(&block, 2 << 20, stream)); // @streamed
  REFUSE(hipMalloc(&block, 1ul << 45));           // @refused
  puts("ready");
  fflush(stdout);
  for (;;) {
    CHECK(hipMalloc(&block, 4096));
    CHECK(hipFree(block));
    usleep(5000);
  }
}
