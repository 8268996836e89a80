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
};

#define VERSION_HIDDEN 0x8000 // an older version, for who asks for it by name

// Nothing of the C library is called here: its functions may be a sanitizer's, which is not set up yet and would ask
// this library for what it has not found yet.
static bool is_same(const char *left, const char *right) {
  for (; *left && *left == *right; left++, right++) {}
  return *left == *right;
}

// The loader has added where the library lies to these addresses already.
static struct symbol_tables tables_of(const ElfW(Dyn) * entry) {
  struct symbol_tables tables = {0};
  for (; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_SYMTAB) tables.symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) tables.strings = (const char *)entry->d_un.d_ptr;
    if (entry->d_tag == DT_VERSYM) tables.versions = (const uint16_t *)entry->d_un.d_ptr;
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

// The default version, else the first. A chain ends in a value with its lowest bit set.
static const ElfW(Sym) * symbol_find(const struct symbol_tables *tables, const char *name) {
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
    if (named && is_default(tables, at)) return symbol;
    if (named && !older) older = symbol;
    if (found & 1) return older;
  }
}

void *module_symbol(uintptr_t base, const ElfW(Dyn) * dynamic, const char *name) {
  struct symbol_tables tables = tables_of(dynamic);
  // Without DT_GNU_HASH: a library of a linker from before 2006.
  const ElfW(Sym) *symbol = tables.symbols && tables.strings && tables.hash ? symbol_find(&tables, name) : NULL;
  return symbol && ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC ? (void *)(base + symbol->st_value) : NULL;
}
