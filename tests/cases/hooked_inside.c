// build: -ldl
// build-library: hooked_inside.so -DPLUGIN -shared -fPIC -O0
// Functions that heaptide's hooks stand in front of, linked statically into a plugin that is loaded for itself alone:
// PyTorch's autograd engine, its allocator's report, Mojo's heap, HIP's. The plugin's calls of its own functions reach them,
// whoever else has functions of these names, and whatever the file is called.
#ifdef PLUGIN
#include <stdio.h>

#define EVALUATE                                                                                                       \
  "_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_"   \
  "INS0_10ReadyQueueEE"
void evaluate(void *engine, void *const *task, void *node, void *inputs, void *queue) __asm__(EVALUATE);
void evaluate(void *engine, void *const *task, void *node, void *inputs, void *queue) {
  (void)task, (void)node, (void)inputs, (void)queue;
  printf("evaluated %s\n", (char *)engine);
}

void dependencies(void *engine, void *root, void *task, unsigned long minimum) __asm__(
    "_ZN5torch8autograd6Engine20compute_dependenciesEPNS0_4NodeERNS0_9GraphTaskEm");
void dependencies(void *engine, void *root, void *task, unsigned long minimum) {
  (void)root, (void)task;
  printf("depends %s %lu\n", (char *)engine, minimum);
}

struct device {
  signed char type, index;
};
void report(void *pointer, long bytes, unsigned long allocated, unsigned long reserved, struct device device) __asm__(
    "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
void report(void *pointer, long bytes, unsigned long allocated, unsigned long reserved, struct device device) {
  (void)pointer, (void)allocated, (void)reserved, (void)device;
  printf("reported %ld\n", bytes);
}

static _Alignas(64) char heap[64];
void *tc_new(unsigned long alignment, unsigned long bytes) __asm__("_ZN1M7AsyncRT15TCMallocGlobals6tc_newEmm");
void *tc_new(unsigned long alignment, unsigned long bytes) {
  (void)alignment, (void)bytes;
  return heap;
}
void tc_delete(void *block) __asm__("_ZN1M7AsyncRT15TCMallocGlobals9tc_deleteEPv");
void tc_delete(void *block) { printf("deleted %d\n", block == heap); }

int hipMalloc(void **pointer, unsigned long bytes) {
  *pointer = heap;
  return bytes == 64 ? 0 : 2;
}
int hipFree(void *pointer) { return pointer == heap ? 0 : 1; }

void plugin_main(void) {
  void *task = NULL, *block = NULL;
  dependencies("engine", NULL, NULL, 7);
  evaluate("engine", &task, NULL, NULL, NULL);
  report(heap, 4096, 0, 0, (struct device){1, 0});
  tc_delete(tc_new(16, 64));
  int refused = hipMalloc(&block, 1ul << 40), made = hipMalloc(&block, 64), freed = hipFree(block);
  printf("hip %d %d %d\n", refused, made, freed);
}
#else
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
  char path[4096];
  (void)count;
  snprintf(path, sizeof path, "%.*shooked_inside.so", (int)(strrchr(words[0], '/') + 1 - words[0]), words[0]);
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void (*plugin_main)(void) = plugin ? (void (*)(void))dlsym(plugin, "plugin_main") : NULL;
  if (!plugin_main) return 1;
  plugin_main();
  return 0;
}
#endif
