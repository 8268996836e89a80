// Optimised code without frame pointers, with frames of many sizes: every caller is there.
// build: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// expect direct 64 in 1 at @lost
// expect stack @lost leaf < small < large < dynamic < main
#include "planted.h"

static volatile int sink;

static __attribute__((noinline, noipa)) void leaf(void) {
  *(volatile char *)malloc(64) = 1; // @lost
  sink = 1;
}

static __attribute__((noinline, noipa)) int small(int value) {
  leaf();
  return value + sink;
}

static __attribute__((noinline, noipa)) int large(int value) {
  volatile char filler[3000];
  filler[value] = 1;
  return small(value) + filler[value];
}

static __attribute__((noinline, noipa)) int dynamic(int value) {
  volatile char *filler = __builtin_alloca((size_t)value * 100);
  filler[value] = 1;
  return large(value) + filler[value];
}

int main(int count, char **words) {
  (void)words;
  dynamic(count);
  stack_scrub();
  return 0;
}
