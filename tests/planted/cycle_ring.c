// A lost ring of five.
// expect indirect 160 in 5 at @member
#include "planted.h"

static __attribute__((noinline)) void ring_lose(void) {
  void **ring[5];
  for (int i = 0; i < 5; i++) ring[i] = calloc(1, 32); // @member
  for (int i = 0; i < 5; i++) ring[i][3] = ring[(i + 1) % 5];
  for (int i = 0; i < 5; i++) ring[i] = NULL;
}

int main(void) {
  ring_lose();
  stack_scrub();
  return 0;
}
