// calloc and reallocarray count their product; products that overflow fail and leave no record.
// expect direct 600 in 1 at @calloc
// expect direct 700 in 1 at @array
// expect allocations 2
// expect frees 0
// expect live 1300
#define _GNU_SOURCE
#include "planted.h"
#include <errno.h>

static __attribute__((noinline)) int blocks_lose(void) {
  volatile size_t huge = SIZE_MAX / 2;
  char *zeroed = calloc(20, 30); // @calloc
  for (int i = 0; i < 600; i++)
    if (zeroed[i]) return 1;
  reallocarray(NULL, 7, 100); // @array
  errno = 0;
  if (calloc(huge, 3) || errno != ENOMEM) return 2;
  errno = 0;
  if (reallocarray(NULL, huge, 3) || errno != ENOMEM) return 3;
  return 0;
}

int main(void) {
  int status = blocks_lose();
  stack_scrub();
  return status;
}
