// A library's global held a block; the library was closed, and its global with it.
// build-library: libholder.so -DLIBRARY
// build: -ldl -Wl,-rpath,$ORIGIN
// expect direct 567 in 1 at @library
#include "planted.h"
#include <dlfcn.h>

#ifdef LIBRARY
static void *held;
void library_hold(void) {
  held = malloc(567); // @library
  stack_scrub();
}
#else
int main(void) {
  void *library = dlopen("libholder.so", RTLD_NOW);
  if (!library) return 2;
  ((void (*)(void))dlsym(library, "library_hold"))();
  dlclose(library);
  stack_scrub();
  return 0;
}
#endif
