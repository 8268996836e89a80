// A lost block leads into a cycle of two, which leads on to a tail: only the entry is direct.
// expect direct 16 in 1 at @entry
// expect indirect 64 in 2 at @member
// expect indirect 48 in 1 at @tail
#include "planted.h"

static __attribute__((noinline)) void cycle_lose(void) {
  void **one = calloc(1, 32), **other = calloc(1, 32); // @member
  one[0] = other, other[0] = one;
  other[1] = calloc(1, 48);     // @tail
  void **entry = calloc(1, 16); // @entry
  entry[1] = one;
}

int main(void) {
  cycle_lose();
  stack_scrub();
  return 0;
}
