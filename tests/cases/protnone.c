// gcc -g protnone.c -o protnone      (scan must survive; child block is reachable through page 3)
#include <stdlib.h>
#include <sys/mman.h>
static char *top;
int main(void) {
  if (posix_memalign((void **)&top, 4096, 8 * 4096)) return 1;
  *(void **)(top + 3 * 4096) = malloc(777);           // readable page of a partly closed block
  *(void **)top = malloc(888);                        // behind PROT_NONE: cannot be seen
  mprotect(top, 4096, PROT_NONE);
  char *g = mmap(0, 1 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(g + 4096, 4096, PROT_NONE);
  return 0;
}
