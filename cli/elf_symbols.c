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

static const Elf64_Sym *image_symbol(const struct elf_image *image, uint32_t type, const char *name) {
  const Elf64_Shdr *all;
  unsigned all_count;
  const Elf64_Shdr *section = section_find(image, type, &all, &all_count);
  if (!section || section->sh_link >= all_count) return NULL;
  const Elf64_Shdr *strings = &all[section->sh_link];
  uint64_t symbol_count = section->sh_size / sizeof(Elf64_Sym);
  const Elf64_Sym *symbols = image_at(image, section->sh_offset, symbol_count, sizeof *symbols);
  const char *table = image_at(image, strings->sh_offset, strings->sh_size, 1);
  for (uint64_t i = 0; symbols && table && i < symbol_count; i++)
    if (symbols[i].st_shndx != SHN_UNDEF && string_is(table, strings->sh_size, symbols[i].st_name, name))
      return &symbols[i];
  return NULL;
}

static bool image_open(struct elf_image *image, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat status;
  *image = (struct elf_image){MAP_FAILED, 0};
  if (fstat(fd, &status) == 0 && status.st_size > 0) {
    image->size = (size_t)status.st_size;
    image->bytes = mmap(NULL, image->size, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  close(fd);
  return image->bytes != MAP_FAILED;
}

static void image_close(const struct elf_image *image) { munmap((void *)image->bytes, image->size); }

bool elf_symbol_defined(const char *path, enum symbol_table table, const char *name) {
  struct elf_image image;
  if (!image_open(&image, path)) return false;
  bool defined = image_symbol(&image, table == SYMBOLS_ALL ? SHT_SYMTAB : SHT_DYNSYM, name) != NULL;
  image_close(&image);
  return defined;
}

uint64_t elf_symbol_value(const char *path, const char *name) {
  struct elf_image image;
  if (!image_open(&image, path)) return 0;
  const Elf64_Sym *symbol = image_symbol(&image, SHT_DYNSYM, name);
  uint64_t value = symbol ? symbol->st_value : 0;
  image_close(&image);
  return value;
}

static uint64_t syscall_in(const struct elf_image *image, const Elf64_Phdr *segment) {
  const uint8_t *code = image_at(image, segment->p_offset, segment->p_filesz, 1);
  if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || !code) return 0;
  for (uint64_t i = 0; i + 1 < segment->p_filesz; i++)
    if (code[i] == 0x0f && code[i + 1] == 0x05) return segment->p_vaddr + i;
  return 0;
}

uint64_t elf_syscall_find(const char *path) {
  struct elf_image image;
  if (!image_open(&image, path)) return 0;
  const Elf64_Ehdr *elf = image_at(&image, 0, 1, sizeof *elf);
  const Elf64_Phdr *segments = elf ? image_at(&image, elf->e_phoff, elf->e_phnum, sizeof *segments) : NULL;
  uint64_t found = 0;
  for (unsigned i = 0; segments && !found && i < elf->e_phnum; i++) found = syscall_in(&image, &segments[i]);
  image_close(&image);
  return found;
}
