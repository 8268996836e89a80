// A mapping grown and moved by mremap stays one block with its new size; the old place counts no more.
// expect direct 6291456 in 1 at @lost kind mmap
// expect kind mmap live 6291456
#define _GNU_SOURCE
#include "planted.h"
#include <sys/mman.h>

enum { MIB = 1 << 20 };

static __attribute__((noinline)) void mapping_lose(void) {
  char *small = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *large = mremap(small, MIB, 6 * MIB, MREMAP_MAYMOVE); // @lost
  large[6 * MIB - 1] = 1;
}

int main(void) {
  mapping_lose();
  stack_scrub();
  return 0;
}
