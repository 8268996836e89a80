// Functions that the library itself looks up for the program: wrapped once, whichever way they were found. Errors on
// demand: a failed call makes nothing, a refused free leaves its block.
// simulated: 6
// expect direct 2097152 in 1 at @by_name kind device
// expect direct 1048576 in 1 at @by_dlsym kind device
// expect direct 4096 in 1 at @refused kind device
// expect kind device allocations 4
#define _GNU_SOURCE
#include "simulated.h"
#include <dlfcn.h>

typedef int (*make_call)(void **, size_t);

int main(void) {
  make_call by_name = NULL, by_dlsym;
  void *block, *mark = (void *)0x1234;
  int found;
  CHECK(hipGetProcAddress("hipMalloc", (void **)&by_name, 60000000, 0, &found));
  by_dlsym = (make_call)dlsym(dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD), "hipMalloc");
  if (by_name != by_dlsym) return 1;
  CHECK(by_name(&block, 2 << 20));  // @by_name
  CHECK(by_dlsym(&block, 1 << 20)); // @by_dlsym
  CHECK(hipMalloc(&block, 4096));   // @refused
  REFUSE(hipMalloc(&mark, 4096));   // the fourth one fails on demand
  if (mark != (void *)0x1234) return 2;
  REFUSE(hipFree(block)); // so does the first free
  CHECK(hipMalloc(&mark, 8192));
  CHECK(hipFree(mark));
  REFUSE(hipGetProcAddress("hipNoSuchFunction", (void **)&by_name, 60000000, 0, &found));
  return 0;
}
