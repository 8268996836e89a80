// A library opened at run time loses memory and stays open.
// build-library: libleaky.so -DLIBRARY
// build: -ldl -Wl,-rpath,$ORIGIN
// expect direct 345 in 1 at @library
// expect stack @library library_lose < main
#include "planted.h"
#include <dlfcn.h>

#ifdef LIBRARY
void library_lose(void) {
  malloc(345); // @library
  stack_scrub();
}
#else
int main(void) {
  void *library = dlopen("libleaky.so", RTLD_NOW);
  if (!library) return 2;
  ((void (*)(void))dlsym(library, "library_lose"))();
  stack_scrub();
  return 0;
}
#endif
