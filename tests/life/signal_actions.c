// Has handlers of its own of several kinds. On each line of input it prints how the kernel keeps the actions of all
// signals and the alternate stack, by bare system calls, and allocates a little; ends when its input does.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct kernel_action {
  void *handler;
  unsigned long flags;
  void *restorer;
  unsigned long mask;
};

static void on_signal(int number) { (void)number; }
static void on_signal_info(int number, siginfo_t *info, void *context) { (void)number, (void)info, (void)context; }

static void bytes_print(const void *data, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) printf("%02x", ((const unsigned char *)data)[i]);
}

static void actions_print(void) {
  for (int number = 1; number <= 64; number++) {
    struct kernel_action action = {0};
    long error = syscall(SYS_rt_sigaction, number, NULL, &action, 8);
    printf("%d:%ld:", number, error);
    bytes_print(&action, sizeof action);
    printf(" ");
  }
  stack_t stack = {0};
  syscall(SYS_sigaltstack, NULL, &stack);
  bytes_print(&stack.ss_sp, sizeof stack.ss_sp);
  printf(":%d:%zu\n", stack.ss_flags, stack.ss_size);
  fflush(stdout);
}

int main(void) {
  char line[16];
  static char place[1 << 16];
  sigaltstack(&(stack_t){.ss_sp = place, .ss_size = sizeof place}, NULL);
  struct sigaction masked = {.sa_sigaction = on_signal_info, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  sigfillset(&masked.sa_mask);
  sigaction(SIGSEGV, &masked, NULL);
  sigaction(SIGTERM, &masked, NULL);
  signal(SIGUSR1, on_signal);
  signal(SIGHUP, SIG_IGN);
  sigaction(SIGRTMIN + 3, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_NODEFER | SA_RESETHAND}, NULL);
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    free(malloc(100));
    actions_print();
  }
  return 0;
}
