#include "runtime_residue.h"

#include <string.h>

#include "../native/modules.h"
#include "../native/site.h"
#include "../native/stack_table.h"

// Beginnings of file names. Passed over on the way from the allocator to its caller (the runtime's compiler is LLVM's):
static const char *const language_libraries[] = {"libstdc++.", "libc++.", "libc++abi.",
                                                 "libgcc_s.",  "libLLVM", "ld-linux"};
// The libraries of ROCm below HIP's interface.
static const char *const runtime_libraries[] = {"libamdhip64.",   "libhsa-runtime64.", "libhsakmt.",
                                                "libamd_comgr.",  "libhiprtc.",        "libhiprtc-builtins.",
                                                "libdrm_amdgpu.", "libdrm.",           "librocprofiler-register.",
                                                "libamdocl64."};

static bool is_one_of(const struct module *module, const char *const *beginnings, size_t count) {
  const char *slash = module->path ? strrchr(module->path, '/') : NULL;
  const char *name = slash ? slash + 1 : module->path;
  for (size_t i = 0; name && i < count; i++)
    if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return true;
  return false;
}

#define IS_ONE_OF(module, table) is_one_of(module, table, sizeof table / sizeof *table)

static bool is_passed_over(const struct module *module) {
  return (module->flags & (HT_MODULE_OWN | HT_MODULE_LIBC | HT_MODULE_ALLOCATOR)) ||
         IS_ONE_OF(module, language_libraries);
}

// By the first frame, from the inside, that is no allocator's. Where there is none the loader was at work: HIP 5.2 has
// libstdc++'s pool for exceptions made a second time, and the first one is lost.
static bool is_runtime_stack(uint32_t node) {
  for (; node_is_frame(node); node = node_table[node].parent) {
    const struct frame *frame = &frame_table[node_table[node].frame];
    if (frame->kind != HT_FRAME_NATIVE || frame->module >= module_count) return false;
    const struct module *module = &module_table[frame->module];
    if (!is_passed_over(module)) return IS_ONE_OF(module, runtime_libraries);
  }
  return true;
}

static bool runtime_was_loaded(void) {
  for (uint32_t i = 0; i < module_count; i++)
    if (IS_ONE_OF(&module_table[i], runtime_libraries)) return true;
  return false;
}

void runtime_residue_mark(void) {
  if (!runtime_was_loaded()) return;
  uint32_t end = __atomic_load_n(&site_count, __ATOMIC_ACQUIRE);
  for (uint32_t id = SITE_FIRST; id < end; id++) {
    struct site *site = &site_table[id];
    bool is_host = site->kind == HT_KIND_HEAP || site->kind == HT_KIND_MMAP;
    if (is_host && is_runtime_stack(site->node)) __atomic_or_fetch(&site->flags, HT_SITE_RESIDUE, __ATOMIC_RELAXED);
  }
}
