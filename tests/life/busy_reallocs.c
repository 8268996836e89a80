// Threads that keep growing and shrinking the only block that leads to others; nothing is ever lost. Ends when its
// input does.
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int stop;

static void *churn(void *unused) {
  char **table = malloc(16 * sizeof *table);
  for (int i = 0; i < 16; i++) table[i] = malloc(64);
  for (size_t round = 1; !stop; round++) {
    table = realloc(table, (16 + round % 7 * 30000) * sizeof *table);
    free(malloc(round % 3000));
  }
  for (int i = 0; i < 16; i++) free(table[i]);
  free(table);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  struct pollfd input = {0, POLLIN, 0};
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, churn, NULL);
  puts("ready");
  fflush(stdout);
  poll(&input, 1, -1);
  stop = 1;
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return 0;
}
