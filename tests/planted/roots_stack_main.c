// exit() is called below a frame that still holds a block; a block lost in a finished frame is lost.
// expect direct 77 in 1 at @lost
// expect live 1077
#include "planted.h"

static __attribute__((noinline)) void leave(void) {
  stack_scrub();
  exit(0);
}

static __attribute__((noinline)) void block_lose(void) {
  malloc(77); // @lost
}

int main(void) {
  block_lose();
  void *volatile held = malloc(1000);
  leave();
  return held != NULL;
}
