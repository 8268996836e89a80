// A mapping whose address is forgotten is a leak of its own kind.
// expect direct 1048576 in 1 at @lost kind mmap
// expect kind mmap live 1048576
// expect kind heap live 0
#include "planted.h"
#include <sys/mman.h>

static __attribute__((noinline)) void mapping_lose(void) {
  char *mapping = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // @lost
  mapping[0] = 1;
}

int main(void) {
  mapping_lose();
  stack_scrub();
  return 0;
}
