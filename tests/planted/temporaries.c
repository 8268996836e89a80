// A block freed by its thread's next call is a temporary. free(NULL), malloc_usable_size and failed calls are no
// next calls; a realloc is never one by itself.
// expect none
// expect temporaries 14
// expect temporary @pair 10
// expect temporary @null 1
// expect temporary @usable 1
// expect temporary @failed 1
// expect temporary @fresh 1
#include "planted.h"
#include <malloc.h>

int main(void) {
  volatile size_t huge = PTRDIFF_MAX;
  void *one, *other;
  for (int i = 0; i < 10; i++) free(malloc(10)); // @pair
  one = malloc(20);                              // @null
  free(NULL);
  free(one);
  one = malloc(30); // @usable
  malloc_usable_size(one);
  free(one);
  one = malloc(40); // @failed
  if (malloc(huge)) return 1;
  free(one);
  one = realloc(NULL, 50); // @fresh
  free(one);
  one = malloc(60); // freed after another allocation: no temporary
  other = malloc(70);
  free(one);
  free(other); // and the free of `one` came between: none either
  one = malloc(80);
  one = realloc(one, 8000);
  other = malloc(90);
  free(one);
  free(other);
  return 0;
}
