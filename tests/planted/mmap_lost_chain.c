// A lost mapping that holds a block: the block is indirect, and the mapping direct.
// expect direct 65536 in 1 at @mapping kind mmap
// expect indirect 500 in 1 at @block
#include "planted.h"
#include <sys/mman.h>

static __attribute__((noinline)) void mapping_lose(void) {
  void **mapping = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // @mapping
  mapping[4000] = malloc(500);                                                                    // @block
}

int main(void) {
  mapping_lose();
  stack_scrub();
  return 0;
}
