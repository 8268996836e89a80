#include "library_function.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "loaded_objects.h"
#include "module_symbol.h"
#include "real.h"
#include "thread.h"

// What the loader allocates in between is heaptide's doing, not the program's.
static bool work_begin(void) {
  struct thread *thread = thread_self();
  if (!thread || thread->suspended) return false;
  thread->suspended = 1;
  return true;
}

static void work_end(bool begun) {
  if (begun) thread_tls->suspended = 0;
}

bool library_path_is(const char *path, const char *library) {
  const char *base = loaded_object_file_name(path);
  size_t bytes = strlen(library);
  return strncmp(base, library, bytes) == 0 && (base[bytes] == 0 || base[bytes] == '.');
}

struct library_search {
  const char *library; // NULL: any but heaptide's
  const char *const *names;
  void **functions;
  size_t count;
};

static void function_set(void **function, void *found) {
  if (found) __atomic_store_n(function, found, __ATOMIC_RELEASE);
}

extern ElfW(Dyn) _DYNAMIC[] HT_HIDDEN;

// The kernel's is left out: its tables are not where they say (module_symbol.h).
static bool is_searched(const struct library_search *search, const struct dl_phdr_info *info) {
  if (!info->dlpi_name) return false;
  if (search->library) return library_path_is(info->dlpi_name, search->library);
  return loaded_object_dynamic(info) != _DYNAMIC && !library_path_is(info->dlpi_name, "linux-vdso");
}

// Calls nothing of the loader: it holds its lock.
static int library_look(struct dl_phdr_info *info, size_t size, void *context) {
  const struct library_search *search = context;
  (void)size;
  if (!is_searched(search, info)) return 0;
  const ElfW(Dyn) *dynamic = loaded_object_dynamic(info);
  for (size_t i = 0; dynamic && i < search->count; i++)
    if (!search->functions[i])
      function_set(&search->functions[i], module_symbol(info->dlpi_addr, dynamic, search->names[i], NULL));
  return search->library || (search->count && search->functions[0]);
}

// A library that the program put in front has its say first. What failed is not to be seen by the program's dlerror.
static void find_next(const struct library_search *search) {
  for (size_t i = 0; i < search->count; i++) {
    if (search->functions[i]) continue;
    function_set(&search->functions[i], real_dlsym(RTLD_NEXT, search->names[i]));
    if (!search->functions[i]) dlerror();
  }
}

void *library_function_find(const char *library, const char *name) {
  void *function = NULL;
  struct library_search search = {library, &name, &function, 1};
  real_ready();
  bool begun = work_begin();
  find_next(&search);
  if (!function) loaded_objects_each(library_look, &search); // those in a local scope included
  work_end(begun);
  return function;
}

void *library_function_look_behind(void **known, const char *library, const char *name) {
  void *function = library_function_find(library, name);
  if (!function && library) function = library_function_find(NULL, name);
  __atomic_store_n(known, function, __ATOMIC_RELEASE);
  return function;
}

bool library_function_closed(void **known) {
  Dl_info info;
  void *function = __atomic_load_n(known, __ATOMIC_ACQUIRE);
  if (!function || dladdr(function, &info)) return false;
  __atomic_store_n(known, NULL, __ATOMIC_RELEASE);
  return true;
}

bool library_functions_find(const char *library, const char *const *names, void **functions, size_t count) {
  struct library_search search = {library, names, functions, count}, none = {.library = library};
  real_ready();
  bool begun = work_begin(), is_loaded = loaded_objects_each(library_look, &none);
  if (is_loaded) {
    find_next(&search);
    loaded_objects_each(library_look, &search);
  }
  work_end(begun);
  return is_loaded;
}
