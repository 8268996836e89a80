// Held by the stack of a fiber that waits; the fiber's stack is itself a block.
// expect none
#include "planted.h"
#include <ucontext.h>

enum { STACK_BYTES = 65536 };
static ucontext_t main_context, *fiber_context;
static char *fiber_stack;

static void fiber_run(void) {
  void *volatile held = malloc(321);
  swapcontext(fiber_context, &main_context);
  free(held);
}

int main(void) {
  fiber_context = malloc(sizeof *fiber_context);
  fiber_stack = malloc(STACK_BYTES);
  getcontext(fiber_context);
  fiber_context->uc_stack.ss_sp = fiber_stack;
  fiber_context->uc_stack.ss_size = STACK_BYTES;
  makecontext(fiber_context, fiber_run, 0);
  swapcontext(&main_context, fiber_context);
  stack_scrub();
  return 0;
}
