// Two blocks that point to each other: each is reached by an unreached one, so both are indirect.
// expect indirect 80 in 2 at @member
#include "planted.h"

static __attribute__((noinline)) void cycle_lose(void) {
  void **one = calloc(1, 40), **other = calloc(1, 40); // @member
  one[0] = other;
  other[0] = one;
}

int main(void) {
  cycle_lose();
  stack_scrub();
  return 0;
}
