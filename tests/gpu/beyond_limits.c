// More sites, and more streams that are used, than are followed over time; and a child that uses none.
// simulated: 6
#include "simulated.h"

// Two to the power of `depth` stacks.
static NOINLINE int fan_out(int depth) {
  static void *block;
  if (depth == 0) return hipMalloc(&block, 4096);
  int first = fan_out(depth - 1);
  int second = fan_out(depth - 1);
  return first + second;
}

int main(void) {
  void *block, *stream;
  for (int i = 0; i < 257; i++) {
    CHECK(hipStreamCreate(&stream));
    CHECK(hipMallocAsync(&block, 4096, stream));
  }
  CHECK(fan_out(12));
  usleep(100000); // several samples
  if (fork()) wait(NULL);
  return 0;
}
