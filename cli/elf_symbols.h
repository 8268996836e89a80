// Which names an ELF program defines.
#ifndef HT_ELF_SYMBOLS_H
#define HT_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

enum symbol_table {
  SYMBOLS_DYNAMIC, // .dynsym: what its libraries see of it
  SYMBOLS_ALL,     // .symtab: gone once it is stripped
};

// True when the file at `path` defines `name` in that table. False also when the file cannot be read, is no
// well-formed 64-bit ELF file, or has no such table.
bool elf_symbol_defined(const char *path, enum symbol_table table, const char *name);

// The value (address in the file) of `name` in the dynamic symbol table of the file at `path`; 0: not there.
uint64_t elf_symbol_value(const char *path, const char *name);

// The address in the file of the first two bytes `syscall` (0f 05) in code; 0: none.
uint64_t elf_syscall_find(const char *path);

#endif
