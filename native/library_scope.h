// What a loaded library finds in itself and in the libraries that it needs. Read from their tables (module_symbol.h
// says why the loader is not asked: a dlopen of what is loaded already may run constructors before their time).
#ifndef HT_LIBRARY_SCOPE_H
#define HT_LIBRARY_SCOPE_H

#include <link.h>

#include "words.h"

// `library` has to stay loaded meanwhile, as it does for a caller. In `version`, or for NULL the default one. NULL:
// nothing of that name. At the entry of a hook: takes a lock of the loader's.
void *library_scope_find(const struct link_map *library, const char *name, const char *version);

#endif
