// What the command line reads of an ELF file (64 bit, little-endian): symbols, build-id, the name of its debug file.
// The file is mapped and may be anything: every offset is checked.
#ifndef HT_ELF_FILE_H
#define HT_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct elf;

enum elf_symbol_kind { ELF_FUNCTION, ELF_OBJECT, ELF_TLS };

// NULL: not there, not readable, or no such ELF file.
struct elf *elf_open(const char *path);
void elf_close(struct elf *elf);

// The symbol of `kind` whose span holds `address` (TLS: offset in the module's block), as in the file (mangled);
// NULL: none. Lives until elf_close.
const char *elf_symbol_at(struct elf *elf, enum elf_symbol_kind kind, uint64_t address);

// The build-id's bytes; NULL: the file has none.
const uint8_t *elf_build_id(const struct elf *elf, uint32_t *bytes);

// The file name in .gnu_debuglink, and the checksum that the debug file has to have; NULL: none.
const char *elf_debuglink(const struct elf *elf, uint32_t *crc32);

// True when the file has .debug_info (compressed or not) or .symtab.
bool elf_has_lines(const struct elf *elf);

// The checksum of the whole file, as .gnu_debuglink has it.
uint32_t elf_crc32(const struct elf *elf);

#endif
