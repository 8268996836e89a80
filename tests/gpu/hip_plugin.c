// A plugin that is bound to HIP and brings it along, in a local scope; closed, which unloads both, and opened again,
// perhaps at other addresses. What its last copy holds when it is closed is lost.
// build: -ldl
// build-library: libplugin.so -DPLUGIN -lamdhip64
// expect direct 12288 in 3 at @lost kind device
// expect direct 65536 in 1 at @last kind pinned
// expect kind device live 12288
// expect kind device allocations 6
#ifdef PLUGIN

#include "hip.h"

int work(void) {
  void *block;
  CHECK(hipMalloc(&block, 100000));
  CHECK(hipFree(block));
  CHECK(hipMalloc(&block, 4096)); // @lost
  return 0;
}

int work_last(void) {
  void *block;
  CHECK(hipHostMalloc(&block, 65536, 0)); // @last
  return 0;
}

#else

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int opened(const char *path, int last) {
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin) return puts(dlerror()), 1;
  int status = ((int (*)(void))dlsym(plugin, "work"))();
  if (last) status |= ((int (*)(void))dlsym(plugin, "work_last"))();
  return status || dlclose(plugin);
}

int main(int argc, char **argv) {
  char path[4096];
  strcpy(path, argv[0]);
  strcpy(strrchr(path, '/'), "/libplugin.so");
  for (int round = 0; round < 3; round++)
    if (opened(path, round == 2)) return 1;
  return 0;
}

#endif
