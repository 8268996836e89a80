// One of its two threads sleeps in the named call, and a timer's handler, which is without SA_RESTART, interrupts that
// every millisecond. Says after SECONDS how often the handler found it in front of the call and not behind it: as if
// the call had not begun, which goes on then.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int in_front;
static const char *name;
static time_t until;

static void tick(int signal, siginfo_t *info, void *context) {
  static const unsigned char call[] = {0x0f, 0x05}; // syscall
  const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  (void)signal, (void)info;
  in_front += memcmp((const void *)registers[REG_RIP], call, sizeof call) == 0;
}

static void *sleep_on(void *pipe) {
  char byte;
  while (time(NULL) < until)
    if (strcmp(name, "pause") == 0)
      pause();
    else if (strcmp(name, "poll") == 0)
      poll(NULL, 0, 100000);
    else if (read(*(int *)pipe, &byte, 1) == 1)
      abort();
  return NULL;
}

int main(int argc, char **argv) {
  struct sigaction action = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO};
  struct itimerval often = {{0, 1000}, {0, 1000}};
  pthread_t sleeper;
  sigset_t alarms;
  int pipes[2];
  if (argc < 3 || pipe(pipes) != 0) return 3;
  name = argv[1];
  until = time(NULL) + atoi(argv[2]);
  pthread_create(&sleeper, NULL, sleep_on, pipes);
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, NULL);
  puts("ready");
  fflush(stdout);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  pthread_join(sleeper, NULL);
  printf("%d\n", in_front);
  return 0;
}
