// threads SLOTS: 8 threads, each a million times: malloc 16..4096 bytes, touch both ends, free.
// SLOTS 0: the block just made. SLOTS 16: it replaces one of 16 live blocks, which is freed.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "random.h"

enum { THREADS = 8, ROUNDS = 1000000, SMALLEST = 16, LARGEST = 4096, MOST_SLOTS = 16 };

static unsigned slots;

static void *block_make(uint64_t *random) {
  size_t bytes = SMALLEST + random_next(random) % (LARGEST - SMALLEST + 1);
  volatile char *block = malloc(bytes);
  block[0] = block[bytes - 1] = 1;
  return (void *)block;
}

static void *thread_run(void *argument) {
  uint64_t random = 88172645463325252u + (uintptr_t)argument;
  void *live[MOST_SLOTS] = {0};
  for (int round = 0; round < ROUNDS; round++) {
    if (slots == 0) {
      free(block_make(&random));
      continue;
    }
    void **slot = &live[random_next(&random) % slots];
    free(*slot);
    *slot = block_make(&random);
  }
  for (unsigned i = 0; i < MOST_SLOTS; i++) free(live[i]);
  return NULL;
}

int main(int argc, char **argv) {
  slots = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
  if (slots > MOST_SLOTS) return 2;
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, thread_run, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  puts("done");
  return 0;
}
