// gcc -g -O1 usable.c -o usable
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  for (size_t n = 1; n < 9000; n += 7) {
    char *p = malloc(n); size_t u = malloc_usable_size(p);
    if (u < n || (uintptr_t)p % 16) return 1;       // 16-byte alignment is part of the ABI
    memset(p, 0xff, u);                             // some programs really use all of it
    p = realloc(p, u + 1); memset(p, 0xee, malloc_usable_size(p)); free(p);
    void *q; size_t al = 16u << (n % 13);
    if (posix_memalign(&q, al, n) || (uintptr_t)q % al) return 2;
    memset(q, 1, malloc_usable_size(q)); free(q);
  }
  return malloc_usable_size(NULL) != 0;
}
