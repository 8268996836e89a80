// A block shrunk in place counts what it was shrunk to.
// expect direct 30 in 1 at @shrink
// expect live 30
#include "planted.h"

static __attribute__((noinline)) void block_lose(void) {
  char *block = malloc(3000);
  block = realloc(block, 30); // @shrink
}

int main(void) {
  block_lose();
  stack_scrub();
  return 0;
}
