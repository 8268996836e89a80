// realloc of NULL is only an allocation, realloc to size 0 only a free, a failed one neither.
// expect direct 60 in 1 at @null
// expect direct 70 in 1 at @kept
// expect allocations 3
// expect frees 1
// expect live 130
#include "planted.h"
#include <errno.h>

static __attribute__((noinline)) int blocks_lose(void) {
  volatile size_t huge = PTRDIFF_MAX, nothing = 0;
  void *none = NULL;
  none = realloc(none, 60); // @null
  void *kept = malloc(70);  // @kept
  errno = 0;
  if (realloc(kept, huge) || errno != ENOMEM) return 1;
  void *gone = malloc(80);
  if (realloc(gone, nothing)) return 2;
  return 0;
}

int main(void) {
  int status = blocks_lose();
  stack_scrub();
  return status;
}
