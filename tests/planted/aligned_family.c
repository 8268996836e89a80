// Every aligned call; pvalloc counts its rounded size. Those with a bad alignment fail and are no blocks.
// expect direct 1005 in 1 at @posix_memalign
// expect direct 1024 in 1 at @aligned_alloc
// expect direct 1007 in 1 at @memalign
// expect direct 1008 in 1 at @valloc
// expect direct 4096 in 1 at @pvalloc
// expect allocations 6
// expect frees 1
// expect live 8140
#define _GNU_SOURCE
#include "planted.h"
#include <errno.h>
#include <malloc.h>

static __attribute__((noinline)) int blocks_lose(void) {
  void *block = NULL;
  if (posix_memalign(&block, 4096, 1005) || (uintptr_t)block % 4096) // @posix_memalign
    return 1;
  block = aligned_alloc(64, 1024); // @aligned_alloc
  if ((uintptr_t)block % 64) return 2;
  block = memalign(1 << 16, 1007); // @memalign
  if ((uintptr_t)block % (1 << 16)) return 3;
  block = valloc(1008);  // @valloc
  block = pvalloc(1009); // @pvalloc
  void *untouched = &block;
  if (posix_memalign(&untouched, 24, 100) != EINVAL || untouched != &block) return 4;
  free(aligned_alloc(128, 256));
  return 0;
}

int main(void) {
  int status = blocks_lose();
  stack_scrub();
  return status;
}
