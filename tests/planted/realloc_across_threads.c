// Allocated in one thread, grown in another, lost there.
// build: -pthread
// expect direct 90000 in 1 at @grow
#include "planted.h"
#include <pthread.h>

static void *thread_grow(void *block) {
  realloc(block, 90000); // @grow
  return NULL;
}

static __attribute__((noinline)) void block_lose(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, thread_grow, malloc(10));
  pthread_join(thread, NULL);
}

int main(void) {
  block_lose();
  stack_scrub();
  return 0;
}
