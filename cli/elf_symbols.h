// Which names an ELF program defines.
#ifndef HT_ELF_SYMBOLS_H
#define HT_ELF_SYMBOLS_H

#include <stdbool.h>

enum symbol_table {
  SYMBOLS_DYNAMIC, // .dynsym: what its libraries see of it
  SYMBOLS_ALL,     // .symtab: gone once it is stripped
};

// True when the file at `path` defines `name` in that table. False also when the file cannot be read, is no
// well-formed 64-bit ELF file, or has no such table.
bool elf_symbol_defined(const char *path, enum symbol_table table, const char *name);

#endif
