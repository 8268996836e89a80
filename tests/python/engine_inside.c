// build: -ldl
// build-library: engine_inside.so -DENGINE -shared -fPIC -O0
// PyTorch's autograd engine linked statically into a plugin, loaded for itself alone: its calls of its own functions
// reach them, whoever else has functions of these names. In a file of any name.
#ifdef ENGINE
#include <stdio.h>

void evaluate(void *engine, void *const *task, void *node, void *inputs, void *queue) __asm__(
    "_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_"
    "INS0_10ReadyQueueEE");
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

void plugin_main(void) {
  void *task = NULL;
  dependencies("engine", NULL, NULL, 7);
  evaluate("engine", &task, NULL, NULL, NULL);
}
#else
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
  char path[4096];
  (void)count;
  snprintf(path, sizeof path, "%.*sengine_inside.so", (int)(strrchr(words[0], '/') + 1 - words[0]), words[0]);
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void (*plugin_main)(void) = plugin ? (void (*)(void))dlsym(plugin, "plugin_main") : NULL;
  if (!plugin_main) return 1;
  plugin_main();
  return 0;
}
#endif
