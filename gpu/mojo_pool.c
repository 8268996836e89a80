#include "mojo_pool.h"

#include <string.h>

#include "../native/modules.h"
#include "../native/site.h"
#include "../native/stack_table.h"

// A size of 0 turns a pool off: then each buffer is one call (seen on max-core 26.7.0).
#define DEVICE_VARIABLE "MODULAR_DEVICE_CONTEXT_MEMORY_MANAGER_SIZE="
#define HOST_VARIABLE "MODULAR_DEVICE_CONTEXT_HOST_MEMORY_MANAGER_SIZE="
#define LIBRARY "/libKGENCompilerRTShared.so"

static bool device_off, host_off;

void mojo_pool_init(char *const *environment) {
  for (; *environment; environment++) {
    device_off |= strcmp(*environment, DEVICE_VARIABLE "0") == 0;
    host_off |= strcmp(*environment, HOST_VARIABLE "0") == 0;
  }
}

// The runtime's own code asks HIP for memory.
static bool is_mojo_call(uint32_t node) {
  const struct frame *frame = node_is_frame(node) ? &frame_table[node_table[node].frame] : NULL;
  if (!frame || frame->kind != HT_FRAME_NATIVE || frame->module >= module_count) return false;
  const char *path = module_table[frame->module].path, *slash = path ? strrchr(path, '/') : NULL;
  return slash && strcmp(slash, LIBRARY) == 0;
}

void mojo_pool_mark(void) {
  uint32_t end = __atomic_load_n(&site_count, __ATOMIC_ACQUIRE);
  for (uint32_t id = SITE_FIRST; id < end; id++) {
    struct site *site = &site_table[id];
    bool pooled = (site->kind == HT_KIND_DEVICE && !device_off) || (site->kind == HT_KIND_PINNED && !host_off);
    if (pooled && is_mojo_call(site->node)) __atomic_or_fetch(&site->flags, HT_SITE_POOL, __ATOMIC_RELAXED);
  }
}
