#include "got.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "real.h"
#include "sys.h"

struct redirection {
  const char *name;
  void *hook, *real;
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

static void slot_write(void **slot, void *value) {
  uintptr_t page = (uintptr_t)slot & ~4095ul;
  if (sys_call3(SYS_mprotect, (long)page, 4096, PROT_READ | PROT_WRITE) < 0) return;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
}

// Lazily bound entries still point into the module's own PLT: they are bound to the hook at once.
static void slot_redirect(void **slot, uint32_t type, const char *name, const struct redirection *redirections) {
  for (; redirections->name; redirections++) {
    if (strcmp(redirections->name, name) != 0 || *slot == redirections->hook) continue;
    if (*slot == redirections->real || type == R_X86_64_JUMP_SLOT) slot_write(slot, redirections->hook);
  }
}

static void module_redirect(const struct relocations *module, const struct redirection *redirections) {
  for (int table = 0; table < 2; table++) {
    size_t count = module->tables[table] ? module->bytes[table] / sizeof(ElfW(Rela)) : 0;
    for (size_t i = 0; i < count; i++) {
      const ElfW(Rela) *entry = &module->tables[table][i];
      uint32_t type = ELF64_R_TYPE(entry->r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const char *name = module->strings + module->symbols[ELF64_R_SYM(entry->r_info)].st_name;
      slot_redirect((void **)(module->bias + entry->r_offset), type, name, redirections);
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

static int visit(struct dl_phdr_info *info, size_t size, void *redirections) {
  (void)size;
  if (holds(info, (const void *)got_redirect_all) || holds(info, (const void *)real.malloc)) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn) *dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    struct relocations relocations = relocations_of(info->dlpi_addr, dynamic);
    if (relocations.symbols && relocations.strings) module_redirect(&relocations, redirections);
  }
  return 0;
}

void got_redirect_all(void) {
  const struct redirection redirections[] = {
#define X(result, name, arguments) {#name, (void *)(uintptr_t)name, (void *)(uintptr_t)real.name},
      REAL_FUNCTIONS(X)
#undef X
          {NULL, NULL, NULL},
  };
  dl_iterate_phdr(visit, (void *)redirections);
}
