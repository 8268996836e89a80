// Holds so many live blocks, then looks without pause at how much processor time goes by between two looks, for as long
// as its input stays open. Prints the longest such time in milliseconds.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct node {
  struct node *next;
  char rest[16];
};
static struct node *nodes;

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int input_open(void) {
  struct pollfd input = {0, POLLIN, 0};
  return poll(&input, 1, 0) == 0;
}

int main(int argc, char **argv) {
  for (long i = 0, count = argc > 1 ? atol(argv[1]) : 1000; i < count; i++) {
    struct node *node = malloc(sizeof *node);
    node->next = nodes;
    nodes = node;
  }
  puts("ready");
  fflush(stdout);
  double longest = 0, last = now_ms();
  while (input_open())
    for (int i = 0; i < 10000; i++) {
      double now = now_ms();
      if (now - last > longest) longest = now - last;
      last = now;
    }
  printf("%.2f\n", longest);
  return nodes == NULL;
}
