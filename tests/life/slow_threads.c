// A hundred threads that grow, each a hundred times a second: no few calls together, but far from many. Ends when its
// input does.
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 100, PAUSE_US = 10000 };

static void *grow(void *unused) {
  for (;;) {
    char *volatile kept = malloc(1000);
    kept[0] = 1;
    char *volatile block = malloc(100);
    block[0] = 1;
    free(block);
    usleep(PAUSE_US);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  struct pollfd input = {0, POLLIN, 0};
  for (int i = 0; i < THREADS; i++) pthread_create(&thread, NULL, grow, NULL);
  puts("ready");
  fflush(stdout);
  poll(&input, 1, -1);
  return 0;
}
