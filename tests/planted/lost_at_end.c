// A pointer just past a block's end does not hold it, neither where the allocator keeps room behind it (40 of 40
// usable bytes, then 33 of 40).
// expect direct 73 in 2 at @lost
#include "planted.h"

static char *full_end, *short_end;

static __attribute__((noinline)) void ends_keep(void) {
  char *full = malloc(40), *shorter = malloc(33); // @lost
  full_end = full + 40;
  short_end = shorter + 33;
}

int main(void) {
  ends_keep();
  stack_scrub();
  return 0;
}
