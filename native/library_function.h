// Functions of libraries that the program has loaded, behind a hook of the same name. Nothing is ever loaded.
#ifndef HT_LIBRARY_FUNCTION_H
#define HT_LIBRARY_FUNCTION_H

#include "words.h"

// The function `name` of the first loaded library whose file name begins with `library`, for NULL of the first that has
// it, also in a local scope; what a library in front of it defines goes first. NULL: none; the program's dlerror tells
// nothing of it. At the entry of a hook: takes the loader's lock, may allocate.
void *library_function_find(const char *library, const char *name);

// The function of that name behind a hook: of the library that it is known to be in, else (it was linked statically
// into another one, or the file has another name) of any. NULL: nothing has it, so that nothing can have called the
// hook. `*known` is what was found before, NULL: nothing yet.
void *library_function_look_behind(void **known, const char *library, const char *name);
HT_INLINE void *library_function_behind(void **known, const char *library, const char *name) {
  void *function = __atomic_load_n(known, __ATOMIC_ACQUIRE);
  return likely(function != NULL) ? function : library_function_look_behind(known, library, name);
}

// After a dlclose: *known is NULL when its library is gone; whoever calls again looks it up again. True: it is gone.
bool library_function_closed(void **known);

// library_function_find for `count` names at once, for those whose place in `functions` is NULL yet. False: no such
// library is loaded.
bool library_functions_find(const char *library, const char *const *names, void **functions, size_t count);

// Whether the file name of `path` is `library`, or `library` followed by a version.
bool library_path_is(const char *path, const char *library);

#endif
