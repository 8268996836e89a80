#include "got.h"

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "loaded_objects.h"
#include "maps.h"
#include "real.h"
#include "sys.h"

// Hooks that stand for several of the table in real.h, or that have a real function of another name.
#define FURTHER_HOOKS(X)                                                                                               \
  X(mmap64)                                                                                                            \
  X(_Exit)                                                                                                             \
  X(execv) X(execvp) X(execl) X(execlp) X(execle) X(signal) X(setrlimit64) X(prlimit64)

struct redirection {
  const char *name;
  void *hook, *real;
  bool is_heap;
};

#define FRONTS_MAX 2
HT_KEPT static const struct got_front *fronts[FRONTS_MAX];
HT_KEPT static int front_count;
void got_add_front(const struct got_front *front) {
  if (front_count < FRONTS_MAX) fronts[front_count++] = front;
}

// What a slot held before, to be put back by got_restore.
struct got_slot {
  void **slot, *before, *after;
};
static struct {
  bool on; // attach: slots are noted, and those of the C library itself are redirected too
  struct got_slot *slots;
  uint32_t count, capacity;
} notes;

struct redirecting {
  const struct redirection *redirections;
  bool keep_heap;   // the heap functions are the executable's own: its calls do not come through slots
  struct maps maps; // how the slots' pages are protected
};

// What a module says about its relocations, DT_* of <elf.h>.
struct relocations {
  uintptr_t bias;
  const ElfW(Sym) * symbols;
  const char *strings;
  const ElfW(Rela) * tables[2]; // DT_JMPREL, DT_RELA
  size_t bytes[2];
};

// The loader has added the bias to the addresses of a loaded module already, but not in the vDSO.
static uintptr_t dynamic_address(uintptr_t bias, ElfW(Addr) value) { return value < bias ? value + bias : value; }

static struct relocations relocations_of(uintptr_t bias, const ElfW(Dyn) * dynamic) {
  struct relocations found = {.bias = bias};
  for (; dynamic->d_tag != DT_NULL; dynamic++) {
    uintptr_t address = dynamic_address(bias, dynamic->d_un.d_ptr);
    switch (dynamic->d_tag) {
    case DT_SYMTAB:
      found.symbols = (const ElfW(Sym) *)address;
      break;
    case DT_STRTAB:
      found.strings = (const char *)address;
      break;
    case DT_JMPREL:
      found.tables[0] = (const ElfW(Rela) *)address;
      break;
    case DT_PLTRELSZ:
      found.bytes[0] = dynamic->d_un.d_val;
      break;
    case DT_RELA:
      found.tables[1] = (const ElfW(Rela) *)address;
      break;
    case DT_RELASZ:
      found.bytes[1] = dynamic->d_un.d_val;
      break;
    default:
      break;
    }
  }
  return found;
}

// Most slots lie in pages that the loader closes for writing once it has bound them (PT_GNU_RELRO, _dl_protect_relro in
// glibc's elf/dl-reloc.c). An open page is left as it is: the loader may be at work on it.
static void slot_write(const struct mapping *mapping, void **slot, void *value) {
  long page = (long)((uintptr_t)slot & ~4095ul);
  bool closed = !(mapping->flags & MAPS_WRITE);
  int protection = (mapping->flags & MAPS_READ ? PROT_READ : 0) | (mapping->flags & MAPS_EXEC ? PROT_EXEC : 0);
  if (closed && sys_call3(SYS_mprotect, page, 4096, protection | PROT_WRITE) < 0) return;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (closed) sys_call3(SYS_mprotect, page, 4096, protection);
}

static bool slot_note(void **slot, void *hook) {
  if (notes.count == notes.capacity) {
    uint32_t capacity = notes.capacity ? notes.capacity * 2 : 1024;
    struct got_slot *larger = sys_map(capacity * sizeof *larger);
    if (!larger) return false;
    if (notes.slots) memcpy(larger, notes.slots, notes.count * sizeof *larger);
    if (notes.slots) sys_unmap(notes.slots, notes.capacity * sizeof *larger);
    notes.slots = larger;
    notes.capacity = capacity;
  }
  notes.slots[notes.count++] = (struct got_slot){slot, *slot, hook};
  return true;
}

// Lazily bound entries still point into the module's own PLT: they are bound to the hook at once. One that the module
// defines itself is bound to its own function.
static bool slot_is_to_be(void *const *slot, struct got_redirection to, uint32_t type, bool defined) {
  if (*slot == to.hook) return false;
  return *slot == to.real || (type == R_X86_64_JUMP_SLOT && !(notes.on && defined));
}

static void slot_redirect(const struct redirecting *work, void **slot, void *hook) {
  const struct mapping *mapping = maps_find(&work->maps, (uintptr_t)slot);
  if (mapping && (!notes.on || slot_note(slot, hook))) slot_write(mapping, slot, hook);
}

static void slot_look(const struct redirecting *work, void **slot, uint32_t type, bool defined, const char *name) {
  struct got_redirection to;
  for (const struct redirection *redirection = work->redirections; redirection->name; redirection++) {
    if (strcmp(redirection->name, name) != 0 || (work->keep_heap && redirection->is_heap)) continue;
    to = (struct got_redirection){redirection->hook, redirection->real};
    if (slot_is_to_be(slot, to, type, defined)) slot_redirect(work, slot, to.hook);
    return;
  }
  for (int i = 0; i < front_count; i++)
    if (fronts[i]->find(name, &to) && slot_is_to_be(slot, to, type, defined)) slot_redirect(work, slot, to.hook);
}

static void module_redirect(const struct relocations *module, const struct redirecting *work) {
  for (int table = 0; table < 2; table++) {
    size_t count = module->tables[table] ? module->bytes[table] / sizeof(ElfW(Rela)) : 0;
    for (size_t i = 0; i < count; i++) {
      const ElfW(Rela) *entry = &module->tables[table][i];
      uint32_t type = ELF64_R_TYPE(entry->r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const ElfW(Sym) *symbol = &module->symbols[ELF64_R_SYM(entry->r_info)];
      bool defined = symbol->st_shndx != SHN_UNDEF;
      slot_look(work, (void **)(module->bias + entry->r_offset), type, defined, module->strings + symbol->st_name);
    }
  }
}

static bool holds(const struct dl_phdr_info *info, const void *address) {
  uintptr_t at = (uintptr_t)address - info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD && at - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz)
      return true;
  return false;
}

static int visit(struct dl_phdr_info *info, size_t size, void *work) {
  (void)size;
  if (holds(info, (const void *)got_redirect_all) || (!notes.on && holds(info, (const void *)real.malloc))) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn) *dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    struct relocations relocations = relocations_of(info->dlpi_addr, dynamic);
    if (relocations.symbols && relocations.strings) module_redirect(&relocations, work);
  }
  return 0;
}

static bool is_heap_name(const char *name) {
  return strstr(name, "alloc") || strstr(name, "align") || strstr(name, "free");
}

static void redirect_by(struct redirection *redirections) {
  for (struct redirection *entry = redirections; entry->name; entry++) {
    if (!entry->real) entry->real = real_dlsym(RTLD_DEFAULT, entry->name);
    entry->is_heap = is_heap_name(entry->name);
  }
  for (int i = 0; i < front_count; i++) fronts[i]->look();
  struct redirecting work = {.redirections = redirections, .keep_heap = notes.on && real_malloc_is_executable()};
  if (maps_read(&work.maps)) loaded_objects_each(visit, &work);
  maps_drop(&work.maps);
}

void got_redirect_all(void) {
  struct redirection redirections[] = {
#define X(result, name, arguments) {#name, (void *)(uintptr_t)name, (void *)(uintptr_t)real.name, false},
      REAL_FUNCTIONS(X)
#undef X
#define X(name) {#name, (void *)(uintptr_t)name, NULL, false},
          FURTHER_HOOKS(X)
#undef X
              {NULL, NULL, NULL, false},
  };
  redirect_by(redirections);
}

void got_attach(void) {
  notes.on = true;
  got_redirect_all();
}

bool got_is_attached(void) { return notes.on; }

// A module may have gone, and another may be where it was: only what still holds the hook is put back.
void got_restore(void) {
  struct maps maps;
  if (!maps_read(&maps)) return;
  for (uint32_t i = notes.count; i-- > 0;) {
    const struct got_slot *note = &notes.slots[i];
    const struct mapping *mapping = maps_find(&maps, (uintptr_t)note->slot);
    if (mapping && mapping->flags & MAPS_READ && *note->slot == note->after)
      slot_write(mapping, note->slot, note->before);
  }
  maps_drop(&maps);
  notes.count = 0;
  notes.on = false;
}
