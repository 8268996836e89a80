// Jumps out of deep calls: what is allocated afterwards has its true stack.
// expect direct 1600 in 100 at @deep
// expect direct 2400 in 100 at @after
// expect stack @after after_lose < main
#include "planted.h"
#include <setjmp.h>

static jmp_buf back;

static __attribute__((noinline)) void dive(int depth) {
  volatile char filler[100];
  filler[0] = 1;
  if (depth > 0) dive(depth - 1);
  malloc(16); // @deep
  stack_scrub();
  longjmp(back, 1);
}

static __attribute__((noinline)) void after_lose(void) {
  malloc(24); // @after
}

int main(void) {
  for (volatile int i = 0; i < 100; i++) {
    if (!setjmp(back)) dive(i % 20);
    after_lose();
  }
  stack_scrub();
  return 0;
}
