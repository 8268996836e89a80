// Two leaks with names of their own and one held block: the subject of the tests of options and suppressions.
// expect direct 1000 in 1 at @alpha
// expect direct 100 in 2 at @beta
// expect indirect 30 in 1 at @gamma
// expect stack @alpha lose_alpha < work < main
// expect live 6130
// expect peak 6130
// expect allocations 5
#include "planted.h"

static void *held;

static __attribute__((noinline)) void lose_alpha(void) {
  malloc(1000); // @alpha
}

static __attribute__((noinline)) void lose_gamma(void **holder) {
  *holder = malloc(30); // @gamma
}

static __attribute__((noinline)) void lose_beta(void) {
  malloc(50), lose_gamma(malloc(50)); // @beta
}

static __attribute__((noinline)) void work(void) {
  held = malloc(5000);
  lose_alpha();
  lose_beta();
}

int main(void) {
  work();
  stack_scrub();
  return 0;
}
