// Names for addresses: every (module, address) that any report needs is added first, then all are resolved at once.
#ifndef HT_SYMBOLS_H
#define HT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"
#include "pool.h"
#include "symbol_version.h"

// One line of source; fields that nobody knows are NULL or 0.
struct symbol_line {
  const char *function, *file;
  uint32_t line, column;
};

struct symbol {
  uint32_t module; // index
  uint64_t address;
  struct symbol_line *lines; // innermost first: all but the last are inlined into the next
  uint32_t line_count;
};

struct symbol_module {
  const char *path; // as the recorder had it
  uint8_t build_id[32];
  uint32_t build_id_bytes;
  struct elf *elf;    // NULL: not there, or another build than the one that was recorded
  struct elf *debug;  // its separate debug file, NULL: none
  const char *object; // the file to ask for lines: the debug file or the module; NULL: neither has any names
  bool opened;        // the three above are set
  char *note;         // why names are missing, a sentence; NULL: nothing to say
};

struct symbols {
  struct pool texts;
  struct symbol_module *modules;
  struct symbol *entries;
  size_t module_count, module_capacity, entry_count, entry_capacity;
  size_t resolved_count; // entries before this one have their names
  uint32_t *entry_table; // open hash table of entry index + 1
  size_t entry_table_capacity;
  struct dropped_version *dropped; // names that lost their version
  size_t dropped_count, dropped_capacity;
};

// The number of a module. `build_id_bytes`: 32 at most.
uint32_t symbols_module(struct symbols *symbols, const char *path, const uint8_t *build_id, uint32_t build_id_bytes);

// The entry for an address of a module, for symbols->entries.
uint32_t symbols_add(struct symbols *symbols, uint32_t module, uint64_t address);

// Names every entry that has come since the last time: llvm-symbolizer where one works, ELF symbol tables for the rest.
void symbols_resolve(struct symbols *symbols);

// Names every entry's function by the ELF symbol tables alone, at once: no lines, no inlined functions.
void symbols_resolve_functions(struct symbols *symbols);

// The variable at an address of the ELF file (`tls`: at an offset of the thread-local block), demangled; NULL: unknown.
const char *symbols_variable(struct symbols *symbols, uint32_t module, uint64_t address, bool tls);

void symbols_free(struct symbols *symbols);

#endif
