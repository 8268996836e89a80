// A signal handler on its own stack allocates and loses; the interrupted thread goes on.
// expect direct 300 in 1 at @handler
// expect direct 40 in 1 at @after
#include "planted.h"
#include <signal.h>

static char handler_stack[65536];

static void handler(int number) {
  (void)number;
  malloc(300); // @handler
  stack_scrub();
}

static __attribute__((noinline)) void after_lose(void) {
  malloc(40); // @after
}

int main(void) {
  stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  after_lose();
  stack_scrub();
  return 0;
}
