// A pointer at an odd address is not a reference.
// expect direct 72 in 1 at @lost
#include "planted.h"

static struct __attribute__((packed)) {
  char odd;
  void *pointer;
} box __attribute__((aligned(16)));

static __attribute__((noinline)) void pointer_keep(void) {
  box.pointer = malloc(72); // @lost
}

int main(void) {
  pointer_keep();
  stack_scrub();
  return 0;
}
