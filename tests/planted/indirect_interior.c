// A lost block that points to the inside of another: that one is indirect.
// expect direct 16 in 1 at @head
// expect indirect 500 in 1 at @child
#include "planted.h"

static __attribute__((noinline)) void head_lose(void) {
  char **head = malloc(16); // @head
  head[0] = malloc(500);    // @child
  head[0] += 499;           // its last byte
  head[1] = NULL;
}

int main(void) {
  head_lose();
  stack_scrub();
  return 0;
}
