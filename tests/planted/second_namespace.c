// A C library in a namespace of its own has a malloc of its own, which is not seen; nothing of either is mixed up.
// build: -ldl
// expect direct 100 in 1 at @lost
#define _GNU_SOURCE
#include "planted.h"
#include <dlfcn.h>

int main(void) {
  void *library = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW | RTLD_LOCAL);
  if (!library) return 1;
  void *(*other_malloc)(size_t) = (void *(*)(size_t))dlsym(library, "malloc");
  void (*other_free)(void *) = (void (*)(void *))dlsym(library, "free");
  if (!other_malloc || other_malloc == malloc) return 2;
  for (int i = 0; i < 1000; i++) {
    void *block = other_malloc(50);
    free(malloc(50));
    other_free(block);
  }
  void *volatile lost = malloc(100); // @lost
  lost = NULL;
  stack_scrub();
  return dlclose(library);
}
