#include "elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct elf_image {
  const uint8_t *bytes;
  size_t size;
};

// `count` items of `item_bytes` at `offset`; NULL when they are not all inside the file, or not aligned to 8.
static const void *image_at(const struct elf_image *image, uint64_t offset, uint64_t count, size_t item_bytes) {
  uint64_t bytes;
  if (__builtin_mul_overflow(count, item_bytes, &bytes) || offset > image->size || bytes > image->size - offset)
    return NULL;
  return offset % 8 == 0 || item_bytes == 1 ? image->bytes + offset : NULL;
}

static const Elf64_Shdr *section_find(const struct elf_image *image, uint32_t type, const Elf64_Shdr **all,
                                      unsigned *all_count) {
  const Elf64_Ehdr *elf = image_at(image, 0, 1, sizeof *elf);
  if (!elf || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_ident[EI_CLASS] != ELFCLASS64) return NULL;
  *all_count = elf->e_shnum;
  *all = image_at(image, elf->e_shoff, elf->e_shnum, sizeof **all);
  for (unsigned i = 0; *all && i < elf->e_shnum; i++)
    if ((*all)[i].sh_type == type) return &(*all)[i];
  return NULL;
}

// True when the string at `offset` of the table is exactly `name`.
static bool string_is(const char *table, uint64_t table_bytes, uint64_t offset, const char *name) {
  size_t bytes = strlen(name) + 1;
  return offset <= table_bytes && bytes <= table_bytes - offset && memcmp(table + offset, name, bytes) == 0;
}

static bool image_defines(const struct elf_image *image, uint32_t type, const char *name) {
  const Elf64_Shdr *all;
  unsigned all_count;
  const Elf64_Shdr *section = section_find(image, type, &all, &all_count);
  if (!section || section->sh_link >= all_count) return false;
  const Elf64_Shdr *strings = &all[section->sh_link];
  uint64_t symbol_count = section->sh_size / sizeof(Elf64_Sym);
  const Elf64_Sym *symbols = image_at(image, section->sh_offset, symbol_count, sizeof *symbols);
  const char *table = image_at(image, strings->sh_offset, strings->sh_size, 1);
  for (uint64_t i = 0; symbols && table && i < symbol_count; i++)
    if (symbols[i].st_shndx != SHN_UNDEF && string_is(table, strings->sh_size, symbols[i].st_name, name)) return true;
  return false;
}

bool elf_symbol_defined(const char *path, enum symbol_table table, const char *name) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat status;
  struct elf_image image = {MAP_FAILED, 0};
  if (fstat(fd, &status) == 0 && status.st_size > 0) {
    image.size = (size_t)status.st_size;
    image.bytes = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  close(fd);
  if (image.bytes == MAP_FAILED) return false;
  bool defined = image_defines(&image, table == SYMBOLS_ALL ? SHT_SYMTAB : SHT_DYNSYM, name);
  munmap((void *)image.bytes, image.size);
  return defined;
}
