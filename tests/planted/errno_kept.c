// Calls that succeed leave errno as it was, whatever the tool does beneath; calls that fail set it as libc would.
// expect none
// expect live 0
#define _GNU_SOURCE
#include "planted.h"
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>

#define KEEPS(call) (errno = EILSEQ, (void)(call), errno == EILSEQ)

int main(void) {
  volatile size_t huge = PTRDIFF_MAX, nothing = 0;
  void *block = NULL, *aligned = NULL;
  if (!KEEPS(block = malloc(100)) || !KEEPS(block = realloc(block, 100000)) || !KEEPS(free(block))) return 1;
  if (!KEEPS(block = calloc(10, 10)) || !KEEPS(realloc(block, nothing))) return 2;
  if (!KEEPS(posix_memalign(&aligned, 64, 100)) || !KEEPS(malloc_usable_size(aligned)) || !KEEPS(free(aligned)))
    return 3;
  if (!KEEPS(free(NULL)) || !KEEPS(posix_memalign(&aligned, 7, 100))) return 4;
  if (!KEEPS(block = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) ||
      !KEEPS(mprotect(block, 4096, PROT_READ | PROT_WRITE)) || !KEEPS(munmap(block, 8192)))
    return 5;
  errno = 0;
  if (malloc(huge) || errno != ENOMEM) return 6;
  errno = 0;
  if (mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED || errno != EINVAL) return 7;
  errno = 0;
  if (munmap((void *)1, 4096) == 0 || errno != EINVAL) return 8;
  return 0;
}
