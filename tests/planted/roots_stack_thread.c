// Held only by the stack of a thread that waits in a system call, near the top of it and far down.
// build: -pthread
// expect none
#include "planted.h"
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t ready;

static __attribute__((noinline)) void wait_deep(int depth) {
  volatile char filler[4096];
  filler[0] = (char)depth;
  if (depth > 0) {
    wait_deep(depth - 1);
    filler[1] = filler[0];
    return;
  }
  void *volatile deep = malloc(456);
  sem_post(&ready);
  for (;;) pause();
  free(deep);
}

static void *thread_run(void *unused) {
  void *volatile held = malloc(123);
  wait_deep(20);
  free(held);
  return unused;
}

int main(void) {
  sem_init(&ready, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, thread_run, NULL);
  sem_wait(&ready);
  return 0;
}
