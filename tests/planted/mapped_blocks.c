// Blocks that malloc maps on their own, with its threshold for that as the program finds it without heaptide.
// expect direct 150000 in 1 at @lost
// expect allocations 4
// expect frees 2
// expect live 450000
// expect peak 451500
#include "planted.h"

#define MAPPED 2u // IS_MMAPPED in the word before a block (glibc, malloc.c)

static char *kept;

static int is_mapped(void *block) { return (((const size_t *)block)[-1] & MAPPED) != 0; }

static __attribute__((noinline)) int lose(void) {
  char *block = malloc(150000); // @lost
  return is_mapped(block);
}

int main(void) {
  char *low = malloc(500), *high = malloc(1000);
  int mapped = !is_mapped(low) && !is_mapped(high) && lose();
  kept = malloc(300000);
  mapped &= is_mapped(kept);
  free(low);
  free(high);
  stack_scrub();
  return !mapped;
}
