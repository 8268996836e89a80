#include "modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "loaded_objects.h"
#include "lock.h"
#include "sys.h"

#define MODULES_MAX 16384u // more are not noted: their frames show as bare addresses

struct module *module_table;
uint32_t module_count;
uint32_t module_generation, module_version;
static struct lock modules_lock = LOCK_INIT(LOCK_RANK_MODULES);
static struct { // indexes of the current modules, by address; replaced as a whole, readers take no lock
  uint32_t count;
  uint32_t index[MODULES_MAX];
} * sorted_tables[2], *volatile sorted;
static char *path_next, *path_end; // bump memory for paths

bool module_init(void) {
  module_table = sys_map(MODULES_MAX * sizeof *module_table);
  for (int i = 0; i < 2; i++) sorted_tables[i] = sys_map(sizeof *sorted_tables[0]);
  if (!module_table || !sorted_tables[0] || !sorted_tables[1]) return false;
  sorted = sorted_tables[0];
  loaded_objects_init();
  return true;
}

struct lock *module_lock(void) {
  return &modules_lock;
}

static char *bump_locked(size_t bytes) {
  if ((size_t)(path_end - path_next) < bytes) {
    size_t chunk = bytes > 65536 ? bytes : 65536;
    path_next = sys_map(chunk);
    path_end = path_next ? path_next + chunk : NULL;
    if (!path_next) return NULL;
  }
  char *memory = path_next;
  path_next += bytes;
  return memory;
}

// A library opened by a relative path is found again from anywhere: the working folder goes in front.
static void path_set_locked(struct module *module, const char *given) {
  size_t bytes = strlen(given) + 1;
  char folder[512]; // in a longer one the path stays relative
  long folder_bytes = 0;
  if (*given != '/' && strchr(given, '/')) // without any slash: the vDSO
    folder_bytes = sys_call3(SYS_getcwd, (long)folder, sizeof folder, 0);
  if (folder_bytes < 0 || folder[0] != '/') folder_bytes = 0;
  char *path = bump_locked((size_t)folder_bytes + bytes);
  module->path = path ? path : (char *)"";
  module->given = module->path;
  if (!path) return;
  if (folder_bytes) {
    memcpy(path, folder, (size_t)folder_bytes);
    path[folder_bytes - 1] = '/'; // in place of the NUL
  }
  module->given = memcpy(path + folder_bytes, given, bytes);
}

// ---- what a loaded module says about itself

// The headers of a loaded ELF file lie at the start of its first mapping in practice; dl_iterate_phdr has them too,
// but takes the loader's lock.
static void build_id_note(struct module *module, const Elf64_Phdr *header) {
  const char *at = (const char *)(module->bias + header->p_vaddr), *end = at + header->p_memsz;
  while (at + sizeof(Elf64_Nhdr) <= end) {
    const Elf64_Nhdr *note = (const Elf64_Nhdr *)at;
    const char *name = at + sizeof *note, *value = name + ((note->n_namesz + 3) & ~3u);
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
      module->build_id_bytes = note->n_descsz < sizeof module->build_id ? note->n_descsz : sizeof module->build_id;
      memcpy(module->build_id, value, module->build_id_bytes);
      return;
    }
    at = value + ((note->n_descsz + 3) & ~3u);
  }
}

static void build_id_find(struct module *module) {
  const Elf64_Ehdr *elf = (const Elf64_Ehdr *)module->start;
  if (!sys_readable(module->start) || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0) return;
  if (elf->e_phoff + (uint64_t)elf->e_phnum * sizeof(Elf64_Phdr) > 4096) return;
  const Elf64_Phdr *headers = (const Elf64_Phdr *)(module->start + elf->e_phoff);
  for (int i = 0; i < elf->e_phnum; i++)
    if (headers[i].p_type == PT_NOTE)
      build_id_note(module, &headers[i]);
    else if (headers[i].p_type == PT_GNU_EH_FRAME && !module->eh_frame_hdr)
      module->eh_frame_hdr = (const void *)(module->bias + headers[i].p_vaddr);
}

static uint32_t path_flags(const char *path) {
  const char *name = strrchr(path, '/');
  name = name ? name + 1 : path;
  if (strncmp(name, "libheaptide", 11) == 0) return HT_MODULE_OWN;
  if (strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-2", 6) == 0) return HT_MODULE_LIBC;
  if (strcmp(name, "libAsyncRTRuntimeGlobals.so") == 0) return HT_MODULE_ALLOCATOR; // Mojo's (hook_mojo.c)
  return 0;
}

// ---- the table

static bool same_module(const struct module *a, const struct module *b) {
  return a->start == b->start && a->end == b->end && a->bias == b->bias && strcmp(a->given, b->given) == 0 &&
         a->build_id_bytes == b->build_id_bytes && memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
}

static void sorted_rebuild_locked(void) {
  typeof(sorted) next = sorted == sorted_tables[0] ? sorted_tables[1] : sorted_tables[0];
  next->count = 0;
  for (uint32_t i = 0; i < module_count; i++) {
    if (!module_table[i].current) continue;
    uint32_t at = next->count++;
    for (; at > 0 && module_table[next->index[at - 1]].start > module_table[i].start; at--)
      next->index[at] = next->index[at - 1];
    next->index[at] = i;
  }
  __atomic_store_n(&sorted, next, __ATOMIC_RELEASE);
}

static void module_replaced_locked(void) {
  module_generation++;
  module_version++;
}

// A module as found: the same as a known one, a new one, or one at the place of others that must be gone.
static uint32_t module_note_locked(const struct module *found) {
  bool replaced = false;
  for (uint32_t i = 0; i < module_count; i++) {
    struct module *known = &module_table[i];
    if (found->end <= known->start || found->start >= known->end) continue;
    if (same_module(known, found)) {
      if (found->loader_entry) known->loader_entry = found->loader_entry;
      if (known->current) return i;
      replaced = known->current = true; // loaded again where it was, after something else had been there
      continue;
    }
    replaced |= known->current;
    known->current = false;
  }
  for (uint32_t i = 0; replaced && i < module_count; i++)
    if (module_table[i].current && same_module(&module_table[i], found))
      return sorted_rebuild_locked(), module_replaced_locked(), i;
  if (module_count == MODULES_MAX) return UINT32_MAX;
  struct module *module = &module_table[module_count];
  *module = *found;
  path_set_locked(module, found->given);
  module->current = true;
  module_count++;
  if (replaced) module_replaced_locked();
  sorted_rebuild_locked();
  return module_count - 1;
}

static struct module module_describe(uintptr_t start, uintptr_t end, uintptr_t bias, const char *path,
                                     const void *eh_frame_hdr) {
  struct module module = {.start = start, .end = end, .bias = bias, .given = path, .eh_frame_hdr = eh_frame_hdr};
  if (!*path) module.flags |= HT_MODULE_MAIN; // the loader names the executable ""
  module.flags |= path_flags(path);
  build_id_find(&module);
  return module;
}

static uint32_t sorted_find(uintptr_t pc) {
  typeof(sorted) table = __atomic_load_n(&sorted, __ATOMIC_ACQUIRE);
  uint32_t low = 0, high = table->count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (module_table[table->index[middle]].end <= pc)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == table->count || pc < module_table[table->index[low]].start) return UINT32_MAX;
  return table->index[low];
}

static bool still_there(const struct module *known, const struct found_object *object) {
  return known->loader_entry == object->link_map && known->start == (uintptr_t)object->map_start &&
         known->end == (uintptr_t)object->map_end && known->eh_frame_hdr == object->eh_frame &&
         strcmp(known->given, object->link_map->l_name) == 0;
}

bool module_forget_gone(void) {
  if (!loaded_object_find) return false;
  bool gone = false;
  lock_take(&modules_lock);
  for (uint32_t i = 0; i < module_count; i++) {
    struct module *module = &module_table[i];
    struct found_object object;
    if (!module->current || !module->loader_entry) continue;
    if (loaded_object_find((void *)module->start, &object) == 0 && still_there(module, &object)) continue;
    module->loader_entry = NULL; // comes back by the same path, build id and place
    gone = true;
  }
  if (gone) module_version++;
  lock_drop(&modules_lock);
  return gone;
}

uint32_t module_of(uintptr_t pc) {
  uint32_t index = sorted_find(pc);
  if (!loaded_object_find) return index; // glibc 2.34: what module_refresh saw
  struct found_object object;
  if (loaded_object_find((void *)pc, &object) != 0) return UINT32_MAX;
  if (index != UINT32_MAX && still_there(&module_table[index], &object)) return index;
  struct module found = module_describe((uintptr_t)object.map_start, (uintptr_t)object.map_end, object.link_map->l_addr,
                                        object.link_map->l_name, object.eh_frame);
  found.loader_entry = object.link_map;
  lock_take(&modules_lock);
  index = module_note_locked(&found);
  lock_drop(&modules_lock);
  return index;
}

// ---- all of them

static int refresh_one(struct dl_phdr_info *info, size_t size, void *seen_context) {
  (void)size;
  uint8_t *seen = seen_context;
  uintptr_t start = UINTPTR_MAX, end = 0;
  const void *eh_frame_hdr = NULL;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    uintptr_t from = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) eh_frame_hdr = (const void *)from;
    if (header->p_type != PT_LOAD) continue;
    if ((from & ~4095ul) < start) start = from & ~4095ul;
    if (from + header->p_memsz > end) end = from + header->p_memsz;
  }
  if (end == 0) return 0;
  struct found_object object;
  if (loaded_object_find && loaded_object_find((void *)start, &object) == 0) { // the same bounds as in hooks
    start = (uintptr_t)object.map_start;
    end = (uintptr_t)object.map_end;
  }
  struct module found = module_describe(start, end, info->dlpi_addr, info->dlpi_name, eh_frame_hdr);
  lock_take(&modules_lock);
  uint32_t index = module_note_locked(&found);
  lock_drop(&modules_lock);
  if (seen && index != UINT32_MAX) seen[index] = 1;
  return 0;
}

void module_refresh(void) {
  uint8_t *seen = sys_map(MODULES_MAX);
  loaded_objects_each(refresh_one, seen);
  if (!seen) return;
  for (uint32_t i = 0; i < module_count; i++) {
    if (seen[i])
      module_table[i].flags &= ~HT_MODULE_UNLOADED;
    else
      module_table[i].flags |= HT_MODULE_UNLOADED;
  }
  sys_unmap(seen, MODULES_MAX);
}
