// Versions in the names of symbols, malloc@GLIBC_2.2.5: dropped where they tell nothing apart.
#ifndef HT_SYMBOL_VERSION_H
#define HT_SYMBOL_VERSION_H

#include <stddef.h>

struct symbols;

// A name that lost its version. Texts of the symbols' pool.
struct dropped_version {
  const char *base, *full;
};

// Where the version begins, with its one or two @; the length of `name`: it has none.
size_t symbol_version_at(const char *name);

// Drops versions from the functions of all entries. Those of which another version, or a function of the same module
// without one, has the same name keep it.
void symbol_versions_drop(struct symbols *symbols);

// The same for a single name: the first version of a name loses it, another one keeps it.
const char *symbol_version_drop(struct symbols *symbols, const char *name);

#endif
