// Blocks that bypass the hooks through __libc_malloc are freed through them: such a free is of no known block.
// expect none
// expect allocations 1
// expect live 100
#include "planted.h"

extern void *__libc_malloc(size_t bytes);
static void *held;

int main(void) {
  held = malloc(100);
  for (int i = 0; i < 100; i++) free(__libc_malloc(50));
  return 0;
}
