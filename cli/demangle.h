// C++ and Mojo names as written in the source, for names that come from symbol tables (llvm-symbolizer demangles its
// own).
#ifndef HT_DEMANGLE_H
#define HT_DEMANGLE_H

#include <stdbool.h>

// New memory, the caller frees it: the demangled name, of a Mojo function without its parameters, or a copy of `name`
// when it is not mangled or no libstdc++ is there to ask.
char *demangle(const char *name);

// True when demangle shows `name` as its source has it; Rust's newer mangling (_R...) it cannot.
bool demangle_can(const char *name);

#endif
