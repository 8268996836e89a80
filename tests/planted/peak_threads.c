// Threads that fill up at once, wait for each other, and empty at once: the peak is the moment when all are full.
// Totals fall on the way there only so often that each fall may take as long as one can, and is looked at.
// build: -pthread
// expect none
// expect peak-row @keep bytes 1600000 blocks 16000
#include "planted.h"
#include <pthread.h>

#ifndef FALLS
#define FALLS 4 // in each thread
#endif
enum { THREADS = 16, BLOCKS = 1000 };

static pthread_barrier_t full;
static void *kept[THREADS][BLOCKS];

static void *thread_run(void *place) {
  void **blocks = place;
  for (int i = 0; i < BLOCKS; i++) {
    if (i % (BLOCKS / FALLS) == 0) free(malloc(7));
    blocks[i] = malloc(100); // @keep
  }
  pthread_barrier_wait(&full);
  for (int i = 0; i < BLOCKS; i++) free(blocks[i]);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&full, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, thread_run, kept[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  return 0;
}
