// gcc -g -rdynamic -pthread own_malloc.c -o own_malloc
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
static pthread_mutex_t L = PTHREAD_MUTEX_INITIALIZER;   // not recursive
static char *cur, *end;
void *malloc(size_t n) {
  n = ((n + 15) & ~(size_t)15) + 16;                    // 16-byte size header
  pthread_mutex_lock(&L);
  if (!cur || cur + n > end) {
    size_t len = n > (1 << 20) ? n : 1 << 20;
    cur = mmap(0, len, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // hook runs under L
    end = cur + len;
  }
  char *p = cur; cur += n; *(size_t *)p = n - 16;
  pthread_mutex_unlock(&L);
  return p + 16;
}
void free(void *p) { (void)p; }
void *calloc(size_t a, size_t b) { return malloc(a * b); }      // fresh mmap is zero
void *realloc(void *p, size_t n) {
  void *q = malloc(n);
  if (p) { size_t o = ((size_t *)p)[-2]; memcpy(q, p, o < n ? o : n); }
  return q;
}
#ifndef LIB
int main(void) { for (int i = 0; i < 100000; i++) *(volatile char *)malloc(100) = 1; return 0; }
#endif
