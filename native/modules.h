// Modules (executable, libraries) as first seen: by return address, never by walking the loader's list in a hook.
// Entries stay when a library is closed; one that appears at the address of another gets an entry of its own.
#ifndef HT_MODULES_H
#define HT_MODULES_H

#include "words.h"

struct module {
  uintptr_t start, end;
  uintptr_t bias; // run-time address - address in the file
  const void *eh_frame_hdr;
  const void *loader_entry; // the loader's link_map, for a quick look whether it is still the same
  char *path;               // own copy, absolute
  const char *given;        // the part of it that the loader was given
  uint8_t build_id[32];
  uint32_t build_id_bytes;
  uint32_t flags; // HT_MODULE_* (UNLOADED is set by module_mark_unloaded)
  bool current;   // false: another module took its place
};

extern struct module *module_table;
extern uint32_t module_count;
// Changes when a module was replaced by another at the same addresses: cached unwind rules and stacks are stale.
extern uint32_t module_generation;
// Changes whenever cached rules are stale, also when a library only went.
extern HT_HIDDEN uint32_t module_version;

bool module_init(void);
// The current module holding `pc`, noted now if it is new; UINT32_MAX: none (JIT code). Lock-free for known ones;
// takes LOCK_RANK_MODULES for new ones. Uses _dl_find_object (glibc 2.35, lock-free) or a table made by
// dl_iterate_phdr at start-up on 2.34.
uint32_t module_of(uintptr_t pc);
// After a dlclose, outside hooks: notes which modules are gone; true: some are, and their rules must be forgotten.
bool module_forget_gone(void);
// At report time, outside hooks, not parked: notes every loaded module and marks those that are gone.
void module_refresh(void);
struct lock *module_lock(void);

#endif
