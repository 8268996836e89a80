// Blocks of 0 bytes are blocks: three lost, one held, one freed.
// expect direct 0 in 3 at @lost
// expect allocations 5
// expect frees 1
// expect live 0
// expect size 8 allocations 5 bytes 0
#include "planted.h"

static void *held;

static __attribute__((noinline)) void blocks_lose(void) {
  for (int i = 0; i < 3; i++) malloc(0); // @lost
}

int main(void) {
  blocks_lose();
  held = malloc(0);
  free(malloc(0));
  stack_scrub();
  return 0;
}
