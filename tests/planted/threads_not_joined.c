// Threads that ended and were never joined, and one that still runs: what libc keeps for them is nobody's leak.
// build: -pthread
// expect none
#include "planted.h"
#include <pthread.h>
#include <unistd.h>

static void *thread_end(void *unused) {
  free(malloc(100));
  return unused;
}

static void *thread_wait(void *unused) {
  for (;;) pause();
  return unused;
}

int main(void) {
  pthread_t thread;
  for (int i = 0; i < 20; i++) pthread_create(&thread, NULL, thread_end, NULL);
  pthread_create(&thread, NULL, thread_wait, NULL);
  usleep(100000);
  return 0;
}
