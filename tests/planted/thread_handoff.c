// One thread allocates, another frees: nothing is lost, and no such block is a temporary.
// build: -pthread
// expect none
// expect temporaries 0
// expect hotspot @made allocations 1000 bytes 64000
#include "planted.h"
#include <pthread.h>

static void *blocks[1000];

static void *thread_make(void *unused) {
  for (int i = 0; i < 1000; i++) blocks[i] = malloc(64); // @made
  return unused;
}

static void *thread_drop(void *unused) {
  for (int i = 0; i < 1000; i++) free(blocks[i]);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, thread_make, NULL);
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, thread_drop, NULL);
  pthread_join(thread, NULL);
  return 0;
}
