// glibc's own names for the malloc family are as good as the others, also where they are mixed.
// expect direct 300 in 1 at @lost
// expect allocations 207
// expect frees 205
// expect live 400
#include "planted.h"

extern void *__libc_malloc(size_t bytes), *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes), *__libc_memalign(size_t alignment, size_t bytes);
extern void *__libc_valloc(size_t bytes), *__libc_pvalloc(size_t bytes);
extern void __libc_free(void *block);
static void *held;

int main(void) {
  held = malloc(100);
  for (int i = 0; i < 100; i++) free(__libc_malloc(50));
  for (int i = 0; i < 100; i++) __libc_free(malloc(50));
  __libc_free(NULL);
  void *block = __libc_realloc(__libc_calloc(2, 10), 200);
  __libc_free(block);
  __libc_free(__libc_memalign(64, 10));
  free(__libc_valloc(10));
  free(__libc_pvalloc(10));
  block = __libc_malloc(300); // @lost
  block = NULL;
  stack_scrub();
  return block != NULL;
}
