// The allocator's lists of free chunks are all in use: their heads, in the C library's data, point to where a free
// chunk begins, which is the end of the lost block in front of it.
// expect direct 26808 in 1117 at @lost
#include "planted.h"
#include <malloc.h>

enum { EACH = 9 }; // of a size: seven stay in the thread's cache

static void *between[200 * EACH];
static int count;
static void *held;

static __attribute__((noinline)) void lose(void) {
  malloc(24); // @lost
}

static __attribute__((noinline)) void sizes_make(size_t first, size_t step, int sizes) {
  for (int i = 0; i < sizes * EACH; i++) {
    lose();
    between[count++] = malloc(first + i / EACH * step);
  }
}

int main(void) {
  mallopt(M_MMAP_MAX, 0);
  sizes_make(40, 16, 62); // small bins, then the large ones by their steps (malloc/malloc.c, largebin_index_64)
  sizes_make(1100, 64, 32);
  sizes_make(3600, 512, 15);
  sizes_make(13000, 4096, 8);
  sizes_make(50000, 32768, 4);
  sizes_make(200000, 262144, 2);
  sizes_make(1200000, 0, 1);
  lose(); // parts the last one from the free end of the heap
  for (int i = 0; i < count; i++) free(between[i]), between[i] = NULL;
  held = malloc(64 << 20); // sorts the free chunks into their lists
  stack_scrub();
  return 0;
}
