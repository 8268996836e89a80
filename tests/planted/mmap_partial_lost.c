// One of the two pieces that a partial munmap leaves is held, the other is lost.
// expect direct 262144 in 1 at @map kind mmap
// expect kind mmap live 524288
#include "planted.h"
#include <sys/mman.h>

enum { MIB = 1 << 20 };
static char *front;

static __attribute__((noinline)) void mapping_split(void) {
  front = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // @map
  munmap(front + MIB / 4, MIB / 2);
}

int main(void) {
  mapping_split();
  stack_scrub();
  return 0;
}
