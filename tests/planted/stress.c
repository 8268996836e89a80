// Random malloc, realloc and free across threads, with signals and forks mixed in. Counts every call and byte itself
// and prints them, for test_stress.py to compare with the report:
//
//   stress THREADS CALLS SEED
//
// prints `malloc CALLS BYTES`, `realloc CALLS BYTES` and `lost BLOCKS BYTES`: what the threads left in the shared
// table, which is cleared at the end. Each child that was forked allocates, frees and leaves with _exit. build: -O1
// -pthread
#define _GNU_SOURCE
#include "planted.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 4096, MAX_BYTES = 2000, FORK_EACH = 100 };

// A slot belongs to whoever swapped its block out: blocks wander between threads.
static _Atomic(void *) slots[SLOTS];
static atomic_ulong malloc_calls, malloc_bytes, realloc_calls, realloc_bytes;
static atomic_int running = 1;
static unsigned long calls, seed;

static unsigned long random_next(unsigned long *state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}

static void handler(int number) {
  (void)number;
  void *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) munmap(page, 8192);
}

static __attribute__((noinline)) void *block_make(size_t bytes) {
  return malloc(bytes); // @malloc
}

static __attribute__((noinline)) void *block_resize(void *block, size_t bytes) {
  return realloc(block, bytes); // @realloc
}

// A block holds its size and is zero behind it: what an earlier owner left in it could point to a lost block.
static void *block_fill(void *block, size_t clean_bytes, size_t bytes) {
  if (bytes > clean_bytes) memset((char *)block + clean_bytes, 0, bytes - clean_bytes);
  *(size_t *)block = bytes;
  return block;
}

static void step_do(unsigned long *state, unsigned long own[4]) {
  size_t bytes = random_next(state) % MAX_BYTES + sizeof(size_t);
  _Atomic(void *) *slot = &slots[random_next(state) % SLOTS];
  void *block = atomic_exchange(slot, NULL);
  if (block && random_next(state) % 4 == 0) {
    size_t old_bytes = *(size_t *)block;
    block = block_fill(block_resize(block, bytes), old_bytes, bytes);
    own[2]++, own[3] += bytes;
  } else {
    free(block);
    block = block_fill(block_make(bytes), 0, bytes);
    own[0]++, own[1] += bytes;
  }
  free(atomic_exchange(slot, block));
}

static void *thread_run(void *number) {
  unsigned long state = (seed * 1000 + (uintptr_t)number) * 2654435761u + 88172645463325252u, own[4] = {0};
  for (unsigned long i = 0; i < calls; i++) step_do(&state, own);
  malloc_calls += own[0], malloc_bytes += own[1], realloc_calls += own[2], realloc_bytes += own[3];
  return NULL;
}

// Signals the process and forks until the workers are done.
static void *disturber_run(void *unused) {
  for (int round = 0; running; round++) {
    kill(getpid(), SIGUSR1);
    if (round % FORK_EACH == 0) {
      pid_t child = fork();
      if (child == 0) {
        alarm(120);
        free(malloc(100));
        _exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) {
        dprintf(2, "a child ended with %x\n", status);
        abort();
      }
    }
    usleep(1000);
  }
  return unused;
}

static void blocks_lose(void) {
  unsigned long lost_blocks = 0, lost_bytes = 0;
  for (int i = 0; i < SLOTS; i++) {
    size_t *block = atomic_exchange(&slots[i], NULL);
    if (block) lost_blocks++, lost_bytes += *block;
  }
  dprintf(1, "malloc %lu %lu\nrealloc %lu %lu\n", malloc_calls, malloc_bytes, realloc_calls, realloc_bytes);
  dprintf(1, "lost %lu %lu\n", lost_blocks, lost_bytes);
}

int main(int count, char **words) {
  if (count != 4) return 2;
  long threads = atol(words[1]);
  calls = strtoul(words[2], NULL, 10), seed = strtoul(words[3], NULL, 10);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  pthread_t disturber, workers[threads];
  pthread_create(&disturber, NULL, disturber_run, NULL);
  for (long i = 0; i < threads; i++)
    if (pthread_create(&workers[i], NULL, thread_run, (void *)(i + 1))) return 77;
  for (long i = 0; i < threads; i++) pthread_join(workers[i], NULL);
  running = 0;
  pthread_join(disturber, NULL);
  blocks_lose();
  stack_scrub();
  return 0;
}
