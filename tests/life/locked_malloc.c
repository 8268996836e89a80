// An allocator of its own in a library beside the program, as jemalloc is one: each call holds a lock for nearly all of
// the time between two calls of the program's only thread. What is loaded into the process asks it for memory too.
// build-library: liblocked.so -shared -fPIC -DLIBRARY
// build: -L{out} -llocked -Wl,-rpath,$ORIGIN
#define _GNU_SOURCE
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LIBRARY
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_flag held = ATOMIC_FLAG_INIT;

static void take(void) {
  while (atomic_flag_test_and_set(&held)) continue;
  for (volatile int i = 0; i < 200000; i++) continue;
}

#define LOCKED(call)                                                                                                   \
  take();                                                                                                              \
  void *block = (call);                                                                                                \
  atomic_flag_clear(&held);                                                                                            \
  return block

void *malloc(size_t bytes) { LOCKED(__libc_malloc(bytes)); }
void *calloc(size_t count, size_t bytes) { LOCKED(__libc_calloc(count, bytes)); }
void *realloc(void *old, size_t bytes) { LOCKED(__libc_realloc(old, bytes)); }
void *memalign(size_t alignment, size_t bytes) { LOCKED(__libc_memalign(alignment, bytes)); }
void *aligned_alloc(size_t alignment, size_t bytes) { LOCKED(__libc_memalign(alignment, bytes)); }
void free(void *block) {
  take();
  __libc_free(block);
  atomic_flag_clear(&held);
}
#else
int main(void) {
  struct pollfd input = {0, POLLIN, 0};
  puts("ready");
  fflush(stdout);
  do {
    free(malloc(100));
    for (volatile int i = 0; i < 20000; i++) continue;
  } while (poll(&input, 1, 0) == 0);
  puts("done");
  return 0;
}
#endif
