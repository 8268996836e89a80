// gcc -g -O0 all_api.c -o all_api      (13 losses, sizes 1001..1013)
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern void free_sized(void *, size_t) __attribute__((weak));
extern void free_aligned_sized(void *, size_t, size_t) __attribute__((weak));
static void use(void *p) { *(volatile char *)p = 1; }
int main(void) {
  void *p; static char big[1013]; memset(big, 'x', 1012);
  use(malloc(1001)); use(calloc(1, 1002)); use(realloc(NULL, 1003)); use(reallocarray(NULL, 1, 1004));
  if (posix_memalign(&p, 64, 1005) == 0) use(p);
  use(aligned_alloc(64, 1006)); use(memalign(64, 1007)); use(valloc(1008));
  use(pvalloc(1009));                                   // rounded up to a page: 4096
  char *s; if (asprintf(&s, "%1009s", "") > 0) use(s);  // 1010 with the NUL
  use(strndup(big, 1010)); use(memcpy(malloc(1012), big, 1012)); use(strdup(big));
  void *q = malloc(500), *r = aligned_alloc(64, 512);
  if (free_sized) { free_sized(q, 500); free_aligned_sized(r, 64, 512); } else { free(q); free(r); }
  return 0;
}
