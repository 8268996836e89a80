#include "hip_library.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "../native/library_function.h"
#include "../native/library_scope.h"
#include "../native/module_symbol.h"
#include "../native/real.h"

#define LIBRARY_NAME "libamdhip64.so" // then nothing, or .5, .6, .7 and what follows

void *hip_real_functions[HIP_FUNCTION_COUNT];

static const char *const names[] = {
#define HIP_NAME(name) #name,
#include "hip_names.h"
#undef HIP_NAME
};

#define HIP_NAME(name) extern void name(void) __attribute__((visibility("default")));
#include "hip_names.h"
#undef HIP_NAME
static void (*const wrappers[])(void) = {
#define HIP_NAME(name) name,
#include "hip_names.h"
#undef HIP_NAME
};

// ---- names

// The table is short and its names share long beginnings: they are told apart from the end.
int hip_function_named(const char *name) {
  size_t bytes = strlen(name) + 1;
  for (int i = 0; i < HIP_FUNCTION_COUNT; i++)
    if (sizeof "hip" < bytes && name[bytes - 2] == names[i][strlen(names[i]) - 1] && strcmp(name, names[i]) == 0)
      return i;
  return -1;
}

// ---- libraries

// The library that `address` lies in: its path, and (`map`) its entry of the loader.
static const char *library_of(const void *address, struct link_map **map) {
  Dl_info info;
  if (!dladdr1(address, &info, (void **)map, RTLD_DL_LINKMAP)) return NULL;
  return info.dli_fname;
}

static bool same_module(const void *left, const void *right) {
  struct link_map *one = NULL, *other = NULL;
  return library_of(left, &one) && library_of(right, &other) && one == other;
}

bool hip_is_wrapper(const void *function) { return same_module(function, (const void *)hip_real_functions); }

static bool is_hip(const void *function) {
  struct link_map *map;
  const char *path = library_of(function, &map);
  return path && library_path_is(path, LIBRARY_NAME);
}

void *hip_real_find(enum hip_function function) {
  void *found = library_function_find(LIBRARY_NAME, names[function]);
  if (found) __atomic_store_n(&hip_real_functions[function], found, __ATOMIC_RELEASE);
  return found;
}

static void *elsewhere[HIP_FUNCTION_COUNT];

void *hip_elsewhere(enum hip_function function) {
  return library_function_behind(&elsewhere[function], NULL, names[function]);
}

void hip_real_find_all(void) {
  if (!__atomic_load_n(&hip_real_functions[HIP_hipMalloc], __ATOMIC_ACQUIRE)) // every release has it
    library_functions_find(LIBRARY_NAME, names, hip_real_functions, HIP_FUNCTION_COUNT);
}

bool hip_redirection(const char *name, struct got_redirection *found) {
  int function = strncmp(name, "hip", 3) == 0 ? hip_function_named(name) : -1;
  if (function < 0 || !hip_real_functions[function]) return false;
  *found = (struct got_redirection){(void *)wrappers[function], hip_real_functions[function]};
  return true;
}

// ---- looking up

// One library is followed: the functions of a second one that is loaded beside it are handed out as they are.
void *hip_wrapped(const char *name, void *found) {
  int function = found ? hip_function_named(name) : -1;
  if (function < 0 || hip_is_wrapper(found)) return found;
  if (!is_hip(found) && hip_real((enum hip_function)function) != found) return found;
  void *known = NULL;
  bool first = __atomic_compare_exchange_n(&hip_real_functions[function], &known, found, false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE);
  return first || known == found ? (void *)wrappers[function] : found;
}

bool hip_caller_is_program(const void *caller) {
  struct link_map *map = NULL;
  return library_of(caller, &map) && map && !map->l_prev;
}

static void *look_up(void *handle, const char *name, const char *version) {
  return version ? real_dlvsym(handle, name, version) : real_dlsym(handle, name);
}

void *hip_visible(const char *name, const char *version, void *caller) {
  void *found = look_up(RTLD_NEXT, name, version); // the global scope, behind this library
  struct link_map *map;
  if (found || !library_of(caller, &map) || !map->l_name[0]) return found;
  found = library_scope_find(map, name, version); // the caller's own
  if (!found) return look_up(RTLD_NEXT, name, version);
  dlerror(); // forgets that the global scope had none
  return found;
}

// ---- about the library

static const struct link_map *library_map(void) {
  struct link_map *map;
  for (int i = 0; i < HIP_FUNCTION_COUNT; i++)
    if (hip_real_functions[i] && library_of(hip_real_functions[i], &map)) return map;
  return NULL;
}

static const char *soname_of(const struct link_map *map) {
  const char *strings = NULL;
  size_t offset = 0;
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_STRTAB) strings = (const char *)entry->d_un.d_ptr;
    if (entry->d_tag == DT_SONAME) offset = entry->d_un.d_val;
  }
  return strings && offset ? strings + offset : "";
}

int hip_major(void) {
  const struct link_map *map = library_map();
  const char *soname = map ? soname_of(map) : "";
  const char *digits = strstr(soname, ".so.");
  return digits && digits[4] >= '0' && digits[4] <= '9' ? digits[4] - '0' : 0;
}

const char *hip_simulated_name(void) {
  const struct link_map *map = library_map();
  return map ? module_symbol(map->l_addr, map->l_ld, "heaptide_simulated_device", NULL) : NULL;
}

// Bound callers keep their library loaded; so whoever calls again has looked its functions up again.
void hip_library_closed(void) {
  for (int i = 0; i < HIP_FUNCTION_COUNT; i++) {
    library_function_closed(&hip_real_functions[i]);
    library_function_closed(&elsewhere[i]);
  }
}
