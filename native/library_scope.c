#include "library_scope.h"

#include <string.h>

#include "loaded_objects.h"
#include "module_symbol.h"

#define LIBRARIES_MAX 256 // of a scope; those beyond are not looked into

// The names of what is in the scope, breadth first, as the loader has it. They lie in the tables of libraries that the
// first one keeps loaded.
struct scope {
  const char *symbol, *version;
  void *found;
  unsigned count, next;
  const char *libraries[LIBRARIES_MAX];
};

static void scope_add(struct scope *scope, const char *library) {
  for (unsigned i = 0; i < scope->count; i++)
    if (strcmp(scope->libraries[i], library) == 0) return;
  if (scope->count < LIBRARIES_MAX) scope->libraries[scope->count++] = library;
}

static const char *strings_of(const ElfW(Dyn) * entry) {
  for (; entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == DT_STRTAB) return (const char *)entry->d_un.d_ptr;
  return NULL;
}

// A library is needed by its SONAME, or by its file's name where it has none.
static bool is_named(const ElfW(Dyn) * dynamic, const char *path, const char *wanted) {
  const char *strings = strings_of(dynamic);
  for (const ElfW(Dyn) *entry = dynamic; strings && entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == DT_SONAME && strcmp(strings + entry->d_un.d_val, wanted) == 0) return true;
  return strcmp(loaded_object_file_name(path), loaded_object_file_name(wanted)) == 0;
}

static void library_take(struct scope *scope, uintptr_t base, const ElfW(Dyn) * dynamic) {
  scope->found = module_symbol(base, dynamic, scope->symbol, scope->version);
  const char *strings = strings_of(dynamic);
  for (const ElfW(Dyn) *entry = dynamic; strings && entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == DT_NEEDED) scope_add(scope, strings + entry->d_un.d_val);
}

// The kernel's own image has a table whose addresses nobody has added to, and no name with a slash.
static int library_visit(struct dl_phdr_info *info, size_t size, void *context) {
  struct scope *scope = context;
  (void)size;
  const ElfW(Dyn) *dynamic = info->dlpi_name && strchr(info->dlpi_name, '/') ? loaded_object_dynamic(info) : NULL;
  if (!dynamic || !is_named(dynamic, info->dlpi_name, scope->libraries[scope->next])) return 0;
  library_take(scope, info->dlpi_addr, dynamic);
  return 1;
}

void *library_scope_find(const struct link_map *library, const char *name, const char *version) {
  struct scope scope = {.symbol = name, .version = version};
  library_take(&scope, library->l_addr, library->l_ld);
  for (; !scope.found && scope.next < scope.count; scope.next++) loaded_objects_each(library_visit, &scope);
  return scope.found;
}
