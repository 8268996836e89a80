// As peak_threads.c, but totals fall at every step. Whether all of these falls are looked at is the machine's: the peak
// is exact, or a note says by how much it may be too low.
// build: -pthread
// expect none
// expect peak-within 1600000 1632000
#include "planted.h"
#include <pthread.h>

enum { THREADS = 16, BLOCKS = 1000 };

static pthread_barrier_t full;
static void *kept[THREADS][BLOCKS];

static void *thread_run(void *place) {
  void **blocks = place;
  for (int i = 0; i < BLOCKS; i++) {
    free(malloc(7));
    blocks[i] = malloc(100);
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
