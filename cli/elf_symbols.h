// Which names a program defines for its libraries: the dynamic symbol table of an ELF file.
#ifndef HT_ELF_SYMBOLS_H
#define HT_ELF_SYMBOLS_H

#include <stdbool.h>

// Sets defined[i] for each names[i] that the file at `path` defines in .dynsym. False when the file cannot be read
// or is no well-formed 64-bit ELF file; `defined` is then left alone.
bool elf_symbols_defined(const char *path, const char *const *names, bool *defined, int count);

#endif
