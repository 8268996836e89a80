#include "loaded_objects.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "real.h"

int (*loaded_object_find)(void *address, struct found_object *found);
static bool lock_may_be_lost;

void loaded_objects_init(void) {
  loaded_object_find = (int (*)(void *, struct found_object *))real_dlsym(RTLD_DEFAULT, "_dl_find_object");
}

void loaded_objects_fork_child(void) {
  lock_may_be_lost = loaded_object_find != NULL; // without it nothing tells where a library's header lies
}

static const ElfW(Ehdr) * header_of(const struct link_map *map) {
  struct found_object found;
  if (loaded_object_find(map->l_ld, &found) != 0) return NULL;
  const ElfW(Ehdr) *header = found.map_start;
  return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 ? header : NULL;
}

static int map_visit(const struct link_map *map, int (*visit)(struct dl_phdr_info *, size_t, void *), void *context) {
  const ElfW(Ehdr) *header = header_of(map);
  if (!header) return 0;
  struct dl_phdr_info info = {.dlpi_addr = map->l_addr, .dlpi_name = map->l_name, .dlpi_phnum = header->e_phnum};
  info.dlpi_phdr = (const ElfW(Phdr) *)((uintptr_t)header + header->e_phoff);
  return visit(&info, sizeof info, context);
}

// The loader changes its list by single words: what another thread was adding or taking away at the fork is in it or
// is not.
static int each_without_lock(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context) {
  int result = 0;
  for (const struct link_map *map = _r_debug.r_map; map && result == 0; map = map->l_next)
    result = map_visit(map, visit, context);
  return result;
}

int loaded_objects_each(int (*visit)(struct dl_phdr_info *info, size_t size, void *context), void *context) {
  return lock_may_be_lost ? each_without_lock(visit, context) : dl_iterate_phdr(visit, context);
}

const ElfW(Dyn) * loaded_object_dynamic(const struct dl_phdr_info *info) {
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  return NULL;
}

const char *loaded_object_file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}
