// Two lost blocks point to the same third one, which counts once.
// expect direct 32 in 2 at @head
// expect indirect 100 in 1 at @child
#include "planted.h"

static __attribute__((noinline)) void heads_lose(void) {
  void **first = malloc(16), **second = malloc(16); // @head
  first[0] = second[1] = malloc(100);               // @child
  first[1] = second[0] = NULL;
}

int main(void) {
  heads_lose();
  stack_scrub();
  return 0;
}
