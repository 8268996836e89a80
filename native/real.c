#include "real.h"

#include <dlfcn.h>
#include <link.h>

struct real_functions real;
void *(*real_dlopen)(const char *, int);
uintptr_t real_allocator_start, real_allocator_end;
static bool allocator_is_libc;

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

bool real_malloc_passes_by(void) {
  Dl_info winner, own;
  void *malloc_seen = dlsym(RTLD_DEFAULT, "malloc");
  return malloc_seen && dladdr(malloc_seen, &winner) && dladdr((void *)real_resolve, &own) &&
         winner.dli_fbase != own.dli_fbase;
}

bool real_malloc_is_libc(void) { return allocator_is_libc; }

// Runs before any second thread is there. What dlsym itself allocates comes back here and is served by what is
// resolved by then.
void real_resolve(void) {
  static bool begun;
  if (begun) return;
  begun = true;
#define X(result, name, arguments) __atomic_store_n(&real.name, dlsym(RTLD_NEXT, #name), __ATOMIC_RELEASE);
  REAL_FUNCTIONS(X)
#undef X
  real_dlopen = real.dlopen;
  allocator_find();
}
