// The status is the program's own.
// expect direct 10 in 1 at @lost
// expect status 42
#include "planted.h"

static __attribute__((noinline)) void block_lose(void) {
  malloc(10); // @lost
}

int main(void) {
  block_lose();
  stack_scrub();
  return 42;
}
