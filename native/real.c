#include "real.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "libc_symbol.h"
#include "module_symbol.h"

HT_KEPT struct real_functions real;
HT_KEPT void *(*real_dlopen)(const char *, int);
HT_KEPT void *(*real_dlsym)(void *, const char *);
HT_KEPT void *(*real_dlvsym)(void *, const char *, const char *);
HT_KEPT uintptr_t real_allocator_start, real_allocator_end;
HT_KEPT static bool allocator_is_libc;

// An ELF header marks the start of a module's first mapping; dladdr gives it.
static void allocator_find(void) {
  Dl_info allocator, libc;
  struct link_map *map = NULL;
  if (!dladdr1((void *)real.malloc, &allocator, (void **)&map, RTLD_DL_LINKMAP)) return;
  allocator_is_libc = dladdr((void *)&fopen, &libc) && libc.dli_fbase == allocator.dli_fbase;
  const ElfW(Ehdr) *elf = allocator.dli_fbase;
  const ElfW(Phdr) *headers = (const ElfW(Phdr) *)((const char *)elf + elf->e_phoff);
  real_allocator_start = (uintptr_t)elf;
  for (int i = 0; i < elf->e_phnum; i++) {
    if (headers[i].p_type != PT_LOAD) continue;
    uintptr_t end = map->l_addr + headers[i].p_vaddr + headers[i].p_memsz;
    if (end > real_allocator_end) real_allocator_end = end;
  }
}

// A program at a fixed address that takes a function's has an undefined symbol with a value, its PLT entry, which
// stands for the function everywhere (System V ABI, AMD64 supplement, "Function Addresses"): it leads to where the
// program's calls lead.
static bool is_plt_entry(void *function) {
  Dl_info found;
  const ElfW(Sym) *symbol = NULL;
  return dladdr1(function, &found, (void **)&symbol, RTLD_DL_SYMENT) && symbol && symbol->st_shndx == SHN_UNDEF;
}

bool real_malloc_passes_by(void) {
  Dl_info winner, own;
  void *malloc_seen = real_dlsym(RTLD_DEFAULT, "malloc");
  if (!malloc_seen || !dladdr(malloc_seen, &winner)) return false;
  return !is_plt_entry(malloc_seen) && dladdr((void *)real_resolve, &own) && winner.dli_fbase != own.dli_fbase;
}

bool real_malloc_is_executable(void) {
  struct link_map *map = NULL;
  Dl_info found;
  return dladdr1((void *)real.malloc, &found, (void **)&map, RTLD_DL_LINKMAP) && map && !map->l_name[0];
}

bool real_malloc_is_libc(void) { return allocator_is_libc; }

// Runs before any second thread is there. What dlsym itself allocates comes back here and is served by what is
// resolved by then.
void real_resolve(void) {
  HT_KEPT static bool begun;
  if (begun) return;
  begun = true;
  // Both are heaptide's own to whoever asks for them by name. 2.34 moved dlsym into libc.so.6.
  real_dlvsym = (void *(*)(void *, const char *, const char *))libc_symbol("dlvsym");
  real_dlsym = (void *(*)(void *, const char *))real_dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (!real_dlsym) real_dlsym = (void *(*)(void *, const char *))libc_symbol("dlsym");
#define X(result, name, arguments) __atomic_store_n(&real.name, real_dlsym(RTLD_NEXT, #name), __ATOMIC_RELEASE);
  REAL_FUNCTIONS(X)
#undef X
  real_dlopen = real.dlopen;
  allocator_find();
}

static struct link_map *module_of_function(void *function) {
  Dl_info found;
  struct link_map *map = NULL;
  return dladdr1(function, &found, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

// What `name` means in `map` itself, not in what that needs.
static void *defined_in(const struct link_map *map, const char *name) {
  if (!strchr(map->l_name, '/')) return NULL; // the kernel's vDSO
  return module_symbol(map->l_addr, map->l_ld, name, NULL);
}

// Behind an executable's PLT entry: the first of the modules in the order of their loading.
static void *behind_plt(void *entry, const char *name) {
  void *function = NULL;
  const struct link_map *map = module_of_function(entry), *heaptide = module_of_function((void *)real_resolve);
  while (map && !function && (map = map->l_next))
    if (map != heaptide) function = defined_in(map, name);
  return function;
}

static void *called_now(const char *name) {
  void *found = real_dlsym(RTLD_DEFAULT, name);
  return found && is_plt_entry(found) ? behind_plt(found, name) : found;
}

// The program's own functions come before those of the C library in the scope that all modules share.
void real_resolve_attached(void) {
#define X(result, name, arguments)                                                                                     \
  {                                                                                                                    \
    void *found = called_now(#name);                                                                                   \
    if (found) __atomic_store_n(&real.name, found, __ATOMIC_RELEASE);                                                  \
  }
  REAL_FUNCTIONS(X)
#undef X
  allocator_find();
}
