// A block grown step by step and lost: one block of the last size, at the line that last moved it.
// Each realloc is an allocation and a free.
// expect direct 5000 in 1 at @grow
// expect allocations 51
// expect frees 50
// expect live 5000
#include "planted.h"

static __attribute__((noinline)) void block_lose(void) {
  char *block = malloc(10);
  for (size_t bytes = 100; bytes <= 5000; bytes += 100) block = realloc(block, bytes); // @grow
}

int main(void) {
  block_lose();
  stack_scrub();
  return 0;
}
