// A mapping that a global holds, and a block that only the mapping holds.
// expect none
// expect kind mmap live 65536
// expect kind heap live 500
#include "planted.h"
#include <sys/mman.h>

static void **mapping;

int main(void) {
  mapping = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mapping[4000] = malloc(500);
  stack_scrub();
  return 0;
}
