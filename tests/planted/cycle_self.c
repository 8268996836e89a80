// A block that points to itself: no other one does, so it is direct.
// expect direct 56 in 1 at @lost
#include "planted.h"

static __attribute__((noinline)) void self_lose(void) {
  void **self = calloc(1, 56); // @lost
  self[2] = self;
}

int main(void) {
  self_lose();
  stack_scrub();
  return 0;
}
