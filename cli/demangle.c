#include "demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

typedef char *demangler(const char *mangled, char *buffer, size_t *bytes, int *status);

// libstdc++'s demangler, loaded when the first mangled name comes: most reports never need it. (Itanium C++ ABI, 3.4.)
static demangler *demangler_find(void) {
  static bool searched;
  static demangler *found;
  if (searched) return found;
  searched = true;
  void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
  if (library) found = (demangler *)dlsym(library, "__cxa_demangle");
  return found;
}

// Mojo's symbols are not mangled: they are printed signatures of up to thousands of characters. What stands before
// their parameters is shown.
static size_t shown_bytes(const char *name) {
  size_t bytes = strcspn(name, "[(");
  return bytes ? bytes : strlen(name);
}

char *demangle(const char *name) {
  int status = 0;
  char *shown = NULL;
  if (strncmp(name, "_Z", 2) == 0 && demangler_find()) shown = demangler_find()(name, NULL, NULL, &status);
  return shown ? shown : memory_text(name, shown_bytes(name));
}

bool demangle_can(const char *name) {
  return strncmp(name, "_R", 2) != 0 && (strncmp(name, "_Z", 2) != 0 || demangler_find());
}
