// A server of N threads that allocate, beside a line that loses 1000 bytes ten times a second and one that keeps what
// it allocates. What it has from before is reached by pointers, and what is allocated later is held by that. Ends when
// its input does, with the number of rounds that went wrong.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **volatile table; // from before; holds blocks from later
static atomic_int stop, wrong;

static __attribute__((noinline)) void lose(void) {
  volatile char *lost = malloc(1000); // lost
  lost[0] = 1;
}

static __attribute__((noinline)) void keep(int slot) {
  free(table[slot]);
  table[slot] = malloc(2000); // kept
}

static void *churn(void *seed) {
  unsigned state = (unsigned)(long)seed;
  while (!stop) {
    size_t bytes = (size_t)rand_r(&state) % 5000 + 1;
    char *volatile block = malloc(bytes);
    memset(block, 7, bytes);
    block = realloc(block, bytes + (size_t)rand_r(&state) % 9000);
    wrong += block[0] != 7 || block[bytes - 1] != 7;
    free(block);
    if (rand_r(&state) % 100 == 0) {
      errno = 0;
      wrong += usleep(200) != 0 || errno != 0;
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 4;
  pthread_t *ids = calloc((size_t)threads, sizeof *ids);
  struct pollfd input = {0, POLLIN, 0};
  table = calloc(64, sizeof *table);
  char *volatile before = malloc(8 << 20);
  memset(before, 1, 8 << 20);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, churn, (void *)(long)(i + 1));
  puts("ready");
  fflush(stdout);
  for (int round = 0; poll(&input, 1, 100) == 0; round++) {
    lose();
    keep(round % 64);
  }
  stop = 1;
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  printf("%d\n", wrong);
  return before[0] != 1;
}
