// gcc -g -O0 -Wno-all realloc_edge.c -o realloc_edge      (lost: 100 + 300 = 400 bytes in 2 blocks)
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
int main(void) {
  volatile size_t huge = PTRDIFF_MAX, zero = 0;
  void *a = malloc(100); errno = 0;
  if (realloc(a, huge) != NULL || errno != ENOMEM) return 1;   // fails: a is still ours
  a = NULL;                                                    // 100 lost
  void *b = malloc(200); b = realloc(b, zero);                 // glibc: frees, returns NULL
  if (b) free(b);
  void *c = realloc(NULL, 300); c = NULL;                      // 300 lost
  char *d = NULL; for (size_t n = 1; n < (4u << 20); n = n * 2 + 1) { d = realloc(d, n); d[n - 1] = 1; }
  for (size_t n = 4u << 20; n > 1; n /= 2) d = realloc(d, n);  // shrinks in place
  free(d); errno = 0;
  if (malloc(huge) || errno != ENOMEM) return 2;               // failed calls leave no record
  if (calloc(huge, 16) || reallocarray(NULL, huge, 16)) return 3;
  free(NULL); (void)a; (void)c; return 0;
}
