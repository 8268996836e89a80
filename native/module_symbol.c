#include "module_symbol.h"

#include <elf.h>

#include "words.h"

// DT_GNU_HASH: these four words, then the filter, the buckets and the chains.
struct gnu_hash {
  uint32_t bucket_count, first_symbol, filter_words, filter_shift;
  uint64_t filter[];
};

struct symbol_tables {
  const ElfW(Sym) * symbols;
  const char *strings;
  const struct gnu_hash *hash;
  const uint16_t *versions; // by symbol; NULL: none of them has one
  const ElfW(Verdef) * version_names;
};

#define VERSION_HIDDEN 0x8000 // an older version, for who asks for it by name

// Nothing of the C library is called here: its functions may be a sanitizer's, which is not set up yet and would ask
// this library for what it has not found yet.
static bool is_same(const char *left, const char *right) {
  for (; *left && *left == *right; left++, right++) {}
  return *left == *right;
}

// The loader has added where the library lies to these addresses already, but to that of the versions' names.
static struct symbol_tables tables_of(uintptr_t base, const ElfW(Dyn) * entry) {
  struct symbol_tables tables = {0};
  for (; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_SYMTAB) tables.symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) tables.strings = (const char *)entry->d_un.d_ptr;
    if (entry->d_tag == DT_VERSYM) tables.versions = (const uint16_t *)entry->d_un.d_ptr;
    if (entry->d_tag == DT_VERDEF) tables.version_names = (const ElfW(Verdef) *)(base + entry->d_un.d_ptr);
    if (entry->d_tag == DT_GNU_HASH) tables.hash = (const struct gnu_hash *)entry->d_un.d_ptr;
  }
  return tables;
}

static uint32_t gnu_hash_of(const char *name) {
  uint32_t hash = 5381;
  for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
  return hash;
}

static bool is_default(const struct symbol_tables *tables, uint32_t symbol) {
  return !tables->versions || !(tables->versions[symbol] & VERSION_HIDDEN);
}

// A library without versions has every symbol in any of them, as the loader has it.
static bool is_version(const struct symbol_tables *tables, uint32_t symbol, const char *version) {
  if (!tables->versions) return true;
  uint16_t wanted = tables->versions[symbol] & (uint16_t)~VERSION_HIDDEN;
  const ElfW(Verdef) *named = tables->version_names;
  while (named && named->vd_ndx != wanted)
    named = named->vd_next ? (const ElfW(Verdef) *)((const char *)named + named->vd_next) : NULL;
  if (!named || named->vd_flags & VER_FLG_BASE) return false;
  const ElfW(Verdaux) *name = (const ElfW(Verdaux) *)((const char *)named + named->vd_aux);
  return is_same(tables->strings + name->vda_name, version);
}

// In `version`; where that is NULL the default version, else the first. A chain ends in a value with its lowest bit
// set.
static const ElfW(Sym) * symbol_find(const struct symbol_tables *tables, const char *name, const char *version) {
  const struct gnu_hash *hash = tables->hash;
  const uint32_t *buckets = (const uint32_t *)(hash->filter + hash->filter_words);
  const uint32_t *chains = buckets + hash->bucket_count;
  uint32_t wanted = gnu_hash_of(name), at = buckets[wanted % hash->bucket_count];
  const ElfW(Sym) *older = NULL;
  if (at < hash->first_symbol) return NULL;
  for (;; at++) {
    uint32_t found = chains[at - hash->first_symbol];
    const ElfW(Sym) *symbol = &tables->symbols[at];
    bool named = (found | 1) == (wanted | 1) && symbol->st_shndx != SHN_UNDEF &&
                 is_same(tables->strings + symbol->st_name, name);
    if (named && (version ? is_version(tables, at, version) : is_default(tables, at))) return symbol;
    if (named && !version && !older) older = symbol;
    if (found & 1) return older;
  }
}

void *module_symbol(uintptr_t base, const ElfW(Dyn) * dynamic, const char *name, const char *version) {
  struct symbol_tables tables = tables_of(base, dynamic);
  // Without DT_GNU_HASH: a library of a linker from before 2006.
  const ElfW(Sym) *symbol =
      tables.symbols && tables.strings && tables.hash ? symbol_find(&tables, name, version) : NULL;
  return symbol && ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC ? (void *)(base + symbol->st_value) : NULL;
}
