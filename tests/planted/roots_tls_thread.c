// Held by another living thread's own variable.
// build: -pthread
// expect none
#include "planted.h"
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static __thread void *held;
static sem_t ready;

static void *thread_run(void *unused) {
  held = malloc(123);
  stack_scrub();
  sem_post(&ready);
  for (;;) pause();
  return unused;
}

int main(void) {
  sem_init(&ready, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, thread_run, NULL);
  sem_wait(&ready);
  return 0;
}
