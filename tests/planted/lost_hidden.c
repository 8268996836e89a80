// A pointer stored inverted is none.
// expect direct 88 in 1 at @lost
#include "planted.h"

static uintptr_t hidden;

static __attribute__((noinline)) void pointer_hide(void) {
  hidden = ~(uintptr_t)malloc(88); // @lost
}

int main(void) {
  pointer_hide();
  stack_scrub();
  return 0;
}
