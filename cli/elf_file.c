#include "elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crc32.h"
#include "memory.h"

struct symbol_span {
  uint64_t start, end;
  const char *name;
};

struct symbol_list {
  struct symbol_span *spans; // sorted by start
  size_t count, capacity;
  bool read;
};

struct elf {
  const uint8_t *bytes;
  uint64_t size;
  const Elf64_Shdr *sections;
  uint32_t section_count;
  const char *names; // of the sections
  uint64_t names_bytes;
  struct symbol_list symbols[3]; // by enum elf_symbol_kind, read when first asked for
};

static bool fits(const struct elf *elf, uint64_t offset, uint64_t bytes) {
  return offset <= elf->size && bytes <= elf->size - offset;
}

static const char *section_name(const struct elf *elf, const Elf64_Shdr *section) {
  if (section->sh_name >= elf->names_bytes) return "";
  const char *name = elf->names + section->sh_name;
  return memchr(name, 0, elf->names_bytes - section->sh_name) ? name : "";
}

// The section's bytes are in the file. NULL: no such section.
static const Elf64_Shdr *section_named(const struct elf *elf, const char *name) {
  for (uint32_t i = 0; i < elf->section_count; i++) {
    const Elf64_Shdr *section = &elf->sections[i];
    if (section->sh_type != SHT_NOBITS && fits(elf, section->sh_offset, section->sh_size) &&
        strcmp(section_name(elf, section), name) == 0)
      return section;
  }
  return NULL;
}

static bool header_read(struct elf *elf) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf->bytes;
  if (elf->size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return false;
  bool aligned = header->e_shoff % _Alignof(Elf64_Shdr) == 0 && header->e_shentsize == sizeof(Elf64_Shdr);
  if (!aligned || !fits(elf, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
    return true; // without sections there is nothing to find, but it is an ELF file
  elf->sections = (const Elf64_Shdr *)(elf->bytes + header->e_shoff);
  elf->section_count = header->e_shnum;
  if (header->e_shstrndx < elf->section_count) {
    const Elf64_Shdr *names = &elf->sections[header->e_shstrndx];
    if (fits(elf, names->sh_offset, names->sh_size)) {
      elf->names = (const char *)elf->bytes + names->sh_offset;
      elf->names_bytes = names->sh_size;
    }
  }
  return true;
}

static bool file_map(struct elf *elf, const char *path) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (descriptor < 0) return false;
  void *bytes = MAP_FAILED;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (bytes == MAP_FAILED) return false;
  elf->bytes = bytes;
  elf->size = (uint64_t)status.st_size;
  return true;
}

struct elf *elf_open(const char *path) {
  struct elf *elf = memory_get(1, sizeof *elf);
  if (file_map(elf, path) && header_read(elf)) return elf;
  elf_close(elf);
  return NULL;
}

void elf_close(struct elf *elf) {
  if (!elf) return;
  if (elf->bytes) munmap((void *)elf->bytes, elf->size);
  for (int kind = 0; kind < 3; kind++) free(elf->symbols[kind].spans);
  free(elf);
}

// ---- symbols

static int symbol_kind_of(const Elf64_Sym *symbol) {
  switch (ELF64_ST_TYPE(symbol->st_info)) {
  case STT_FUNC:
  case STT_GNU_IFUNC:
    return ELF_FUNCTION;
  case STT_OBJECT:
  case STT_COMMON:
    return ELF_OBJECT;
  case STT_TLS:
    return ELF_TLS;
  }
  return -1;
}

static void symbols_read(const struct elf *elf, const Elf64_Shdr *table, enum elf_symbol_kind kind,
                         struct symbol_list *list) {
  if (!fits(elf, table->sh_offset, table->sh_size) || table->sh_link >= elf->section_count) return;
  const Elf64_Shdr *names = &elf->sections[table->sh_link];
  if (!fits(elf, names->sh_offset, names->sh_size) || names->sh_size == 0) return;
  const char *text = (const char *)elf->bytes + names->sh_offset;
  if (text[names->sh_size - 1] != 0) return;
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    memcpy(&symbol, elf->bytes + table->sh_offset + at, sizeof symbol);
    bool wanted = symbol.st_shndx != SHN_UNDEF && symbol_kind_of(&symbol) == (int)kind && symbol.st_size > 0 &&
                  symbol.st_name < names->sh_size && text[symbol.st_name];
    if (!wanted || symbol.st_value + symbol.st_size < symbol.st_value) continue;
    list->spans = memory_grow(list->spans, list->count, &list->capacity, sizeof *list->spans);
    list->spans[list->count++] =
        (struct symbol_span){symbol.st_value, symbol.st_value + symbol.st_size, text + symbol.st_name};
  }
}

static int span_compare(const void *left, const void *right) {
  const struct symbol_span *a = left, *b = right;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  return a->end < b->end ? -1 : a->end > b->end;
}

static void symbols_sort(struct symbol_list *list) {
  if (list->count) qsort(list->spans, list->count, sizeof *list->spans, span_compare);
}

// .symtab where there is one: it has all that .dynsym has.
static struct symbol_list *symbols_of(struct elf *elf, enum elf_symbol_kind kind) {
  struct symbol_list *list = &elf->symbols[kind];
  if (list->read) return list;
  list->read = true;
  const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
  for (int i = 0; i < 2 && list->count == 0; i++)
    for (uint32_t k = 0; k < elf->section_count; k++)
      if (elf->sections[k].sh_type == types[i]) symbols_read(elf, &elf->sections[k], kind, list);
  symbols_sort(list);
  return list;
}

const char *elf_symbol_at(struct elf *elf, enum elf_symbol_kind kind, uint64_t address) {
  const struct symbol_list *list = symbols_of(elf, kind);
  size_t low = 0, high = list->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (list->spans[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  // Spans may lie in one another (aliases, parts of a function); a few steps back find what covers the address.
  for (size_t steps = 0; low > 0 && steps < 8; steps++) {
    low--;
    if (address < list->spans[low].end) return list->spans[low].name;
  }
  return NULL;
}

// ---- notes and debug files

const uint8_t *elf_build_id(const struct elf *elf, uint32_t *bytes) {
  const Elf64_Shdr *section = section_named(elf, ".note.gnu.build-id");
  Elf64_Nhdr note;
  if (!section || section->sh_size < sizeof note + 4) return NULL;
  memcpy(&note, elf->bytes + section->sh_offset, sizeof note);
  if (note.n_namesz != 4 || note.n_descsz == 0 || note.n_descsz > section->sh_size - sizeof note - 4) return NULL;
  *bytes = note.n_descsz;
  return elf->bytes + section->sh_offset + sizeof note + 4;
}

const char *elf_debuglink(const struct elf *elf, uint32_t *crc32) {
  const Elf64_Shdr *section = section_named(elf, ".gnu_debuglink");
  if (!section) return NULL;
  const char *name = (const char *)elf->bytes + section->sh_offset;
  size_t length = strnlen(name, section->sh_size);
  size_t crc_at = (length + 4) & ~(size_t)3; // behind the NUL, aligned to 4
  if (length == 0 || crc_at + sizeof *crc32 > section->sh_size) return NULL;
  memcpy(crc32, name + crc_at, sizeof *crc32);
  return name;
}

bool elf_has_lines(const struct elf *elf) {
  return section_named(elf, ".debug_info") || section_named(elf, ".zdebug_info");
}

uint32_t elf_crc32(const struct elf *elf) { return crc32_add(0, elf->bytes, elf->size); }
