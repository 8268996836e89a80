// A HIP library that appears late, is looked up by name, is closed and opened again. First without any: looking up HIP
// finds nothing, whoever is asked.
// build: -ldl
// expect direct 8192 in 1 at @first kind device
// expect direct 16384 in 1 at @second kind device
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*make_call)(void **, size_t);
typedef int (*free_call)(void *);

static int absent(void) {
  void *program = dlopen(NULL, RTLD_LAZY);
  return !dlsym(RTLD_DEFAULT, "hipMalloc") && !dlsym(RTLD_NEXT, "hipMalloc") && !dlsym(program, "hipMalloc") &&
         dlerror() && !dlsym(RTLD_DEFAULT, "hipNoSuchFunction");
}

int main(void) {
  void *block;
  if (!absent()) return 1;
  for (int round = 0; round < 3; round++) {
    void *library = dlopen("libamdhip64.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) return puts(dlerror()), 2;
    if (dlsym(RTLD_DEFAULT, "hipMalloc") || dlsym(library, "hipNoSuchFunction")) return 3;
    make_call make = (make_call)dlsym(library, "hipMalloc");
    free_call give = (free_call)dlsym(library, "hipFree");
    if (!make || !give || make(&block, 4096) || give(block)) return 4;
    if (round == 0 && make(&block, 8192)) return 5;  // @first
    if (round == 1 && make(&block, 16384)) return 6; // @second
    if (dlclose(library)) return 7;
  }
  return absent() ? 0 : 8;
}
