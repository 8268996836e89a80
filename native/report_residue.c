#include "report_residue.h"

#include <string.h>

#include "modules.h"
#include "process_info.h"
#include "site.h"
#include "stack_table.h"

// libpython3.11.so.1.0; an interpreter with it inside: python3, python3.11, python3.13t.
static bool is_interpreter(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  if (strncmp(name, "libpython", 9) == 0) return true;
  if (strncmp(name, "python", 6) != 0) return false;
  name += 6;
  name += strspn(name, "0123456789.");
  return name[strspn(name, "td")] == 0;
}

bool residue_is(site_id site) {
  bool any = false;
  for (uint32_t node = site_at(site)->node; node_is_frame(node); node = node_table[node].parent) {
    const struct frame *frame = &frame_table[node_table[node].frame];
    if (frame->kind == HT_FRAME_TRUNCATED) continue;
    if (frame->kind != HT_FRAME_NATIVE || frame->module >= module_count) return false;
    const struct module *module = &module_table[frame->module];
    if (is_interpreter(module->flags & HT_MODULE_MAIN ? process_info()->exe : module->path))
      any = true;
    else if (!(module->flags & (HT_MODULE_OWN | HT_MODULE_LIBC)))
      return false;
  }
  return any;
}
