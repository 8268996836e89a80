// One block of 3 GiB, never touched, and one of 1 byte.
// expect direct 3221225472 in 1 at @big
// expect direct 1 in 1 at @small
// expect peak 3221225473
#include "planted.h"

static __attribute__((noinline)) void blocks_lose(void) {
  malloc(3ul << 30); // @big
  malloc(1);         // @small
}

int main(void) {
  blocks_lose();
  stack_scrub();
  return 0;
}
