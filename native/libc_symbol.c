#include "libc_symbol.h"

#include <link.h>

#include "module_symbol.h"
#include "words.h"

// libc.so.6, its SONAME on x86-64; libc-2.31.so where somebody loads the file by its own name.
static bool may_be_libc(const char *file) {
  return file[0] == 'l' && file[1] == 'i' && file[2] == 'b' && file[3] == 'c' && (file[4] == '.' || file[4] == '-');
}

static const char *file_name(const char *path) {
  const char *name = path;
  for (; *path; path++)
    if (*path == '/') name = path + 1;
  return name;
}

// The list that debuggers read; ld.so makes it before it runs anything.
void *libc_symbol(const char *name) {
  for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
    if (!may_be_libc(file_name(map->l_name))) continue;
    void *found = module_symbol(map->l_addr, map->l_ld, name, NULL);
    if (found) return found;
  }
  return NULL;
}
