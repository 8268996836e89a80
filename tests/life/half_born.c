// After a line of input starts a thread that is held before its first instruction: a signal waits for it there. The
// next line lets it begin. Says what the thread was given.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char given[] = "given";

static void line_read(void) {
  char byte;
  while (read(0, &byte, 1) == 1 && byte != '\n') continue;
}

static void hold(int signal) {
  (void)signal;
  if (write(1, "held\n", 5) != 5) _exit(3);
  line_read();
}

static void *begin(void *argument) {
  free(malloc(1000));
  return argument == given ? "begun\n" : "lost\n";
}

static void *once_more(void *argument) { return argument; }

int main(void) {
  sigset_t blocked, none;
  pthread_attr_t attributes;
  pthread_t held, other;
  void *answer = "not joined\n";
  sigemptyset(&none);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  signal(SIGUSR1, hold);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  if (write(1, "ready\n", 6) != 6) return 3;
  line_read();
  kill(getpid(), SIGUSR1);
  pthread_attr_init(&attributes);
  pthread_attr_setsigmask_np(&attributes, &none);
  pthread_create(&held, &attributes, begin, given);
  pthread_join(held, &answer);
  pthread_create(&other, NULL, once_more, answer);
  pthread_join(other, &answer);
  if (write(1, answer, strlen(answer)) < 0) return 3;
  line_read();
  return 0;
}
