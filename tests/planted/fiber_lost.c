// A block lost inside a fiber has the fiber's stack, and blocks after the switch back have main's.
// expect direct 321 in 1 at @fiber
// expect direct 123 in 1 at @after
// expect stack @fiber fiber_lose < fiber_run
// expect stack @after after_lose < main
#include "planted.h"
#include <ucontext.h>

enum { STACK_BYTES = 65536 };
static ucontext_t main_context, fiber_context;
static char fiber_stack[STACK_BYTES];

static __attribute__((noinline)) void fiber_lose(void) {
  malloc(321); // @fiber
}

static __attribute__((noinline)) void after_lose(void) {
  malloc(123); // @after
}

static void fiber_run(void) {
  fiber_lose();
  stack_scrub();
}

int main(void) {
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = fiber_stack;
  fiber_context.uc_stack.ss_size = STACK_BYTES;
  fiber_context.uc_link = &main_context;
  makecontext(&fiber_context, fiber_run, 0);
  swapcontext(&main_context, &fiber_context);
  after_lose();
  stack_scrub();
  return 0;
}
