// The allocator's own books (bins, the top of the heap, arenas of other threads) point into lost blocks.
// build: -pthread
// expect direct 2400 in 100 at @main
// expect direct 96 in 4 at @thread
#include "planted.h"
#include <pthread.h>

enum { THREADS = 4, KEPT = 200, LOST = 100 };
static void *kept[THREADS][KEPT];

static void *thread_run(void *row) {
  void **mine = row;
  for (int i = 0; i < KEPT; i++) {
    free(calloc(1, 40 + 16 * (size_t)i));
    mine[i] = calloc(1, 24 + 16 * (size_t)i);
  }
  volatile char *lost = calloc(1, 24); // @thread
  lost[0] = 1;
  lost = NULL;
  stack_scrub();
  return NULL;
}

static __attribute__((noinline)) void blocks_lose(void) {
  void *freed[LOST];
  for (int i = 0; i < LOST; i++) freed[i] = calloc(1, 2000);
  for (int i = 0; i < LOST; i += 2) free(freed[i]);
  for (int i = 0; i < LOST; i++) *(volatile char *)calloc(1, 24) = 1; // @main
  for (int i = 1; i < LOST; i += 2) free(freed[i]);
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, thread_run, kept[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  blocks_lose();
  stack_scrub();
  return 0;
}
