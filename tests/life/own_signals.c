// What the program sees of handlers and alternate stacks: nothing of heaptide's, and all of its own.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf back;
static char own_stack[65536];

static void show_stack(const char *when) {
  stack_t now;
  sigaltstack(NULL, &now);
  printf("%s: flags %d size %zu own %d\n", when, now.ss_flags, now.ss_size, now.ss_sp == own_stack);
}

static void show_actions(const char *when) {
  printf("%s:", when);
  for (int signal = 1; signal < NSIG; signal++) {
    struct sigaction now;
    if (sigaction(signal, NULL, &now) == 0 && now.sa_handler != SIG_DFL)
      printf(" %d(%x,%d)", signal, (unsigned)now.sa_flags, now.sa_handler == SIG_IGN);
  }
  printf("\n");
}

static void on_fault(int signal) { siglongjmp(back, signal); }

static void *in_thread(void *unused) {
  free(malloc(10));
  show_stack("thread");
  return unused;
}

int main(void) {
  pthread_t thread;
  free(malloc(10));
  show_stack("start");
  show_actions("start");
  stack_t own = {.ss_sp = own_stack, .ss_size = sizeof own_stack}, old, off = {.ss_flags = SS_DISABLE};
  sigaltstack(&own, &old);
  printf("before: %d %zu\n", old.ss_flags, old.ss_size);
  show_stack("own");
  sigaltstack(&off, &old);
  printf("before: %d %zu %d\n", old.ss_flags, old.ss_size, old.ss_sp == own_stack);
  show_stack("off");
  own.ss_size = 100;
  printf("too small: %d\n", sigaltstack(&own, NULL));
  struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER}, before;
  sigaction(SIGSEGV, &action, &before);
  printf("default before: %d\n", before.sa_handler == SIG_DFL);
  signal(SIGURG, SIG_IGN);
  show_actions("own");
  for (int i = 0; i < 3; i++)
    if (sigsetjmp(back, 1) == 0) *(volatile int *)8 = 1;
  printf("caught\n");
  signal(SIGSEGV, SIG_DFL);
  signal(SIGURG, SIG_DFL);
  show_actions("end");
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
  return 0;
}
