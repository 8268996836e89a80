// The allocating function is inlined into its caller: the report still names it.
// build: -O2
// expect direct 64 in 1 at @lost
// expect stack @lost inner < outer < main
#include "planted.h"

static inline __attribute__((always_inline)) char *inner(void) {
  return malloc(64); // @lost
}

static __attribute__((noinline)) void outer(void) { *(volatile char *)inner() = 1; }

int main(void) {
  outer();
  stack_scrub();
  return 0;
}
