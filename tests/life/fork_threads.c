// Copy-on-write: twenty threads fill a mebibyte each through one function, and the main thread half of one; a child
// shares all of it.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 20
#define PART_BYTES (1ul << 20)

static char *parts[THREADS];
static char *rest;

static __attribute__((noinline)) char *part_build(void) { return memset(malloc(PART_BYTES), 1, PART_BYTES); }

static __attribute__((noinline)) char *rest_build(void) { return memset(malloc(PART_BYTES / 2), 1, PART_BYTES / 2); }

static void *thread_run(void *place) {
  *(char **)place = part_build();
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  rest = rest_build();
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, thread_run, &parts[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pid_t child = fork();
  if (child == 0) {
    free(malloc(1000));
    exit(parts[THREADS - 1][0] + rest[0] != 2);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status != 0;
}
