// A lost block that points to a reachable one takes nothing with it.
// expect direct 24 in 1 at @lost
// expect live 1024
#include "planted.h"

static void *held;

static __attribute__((noinline)) void pair_make(void) {
  held = malloc(1000);
  void **lost = malloc(24); // @lost
  lost[0] = held;
  lost[1] = lost[2] = NULL;
}

int main(void) {
  pair_make();
  stack_scrub();
  return 0;
}
