#include "python_api.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "../native/real.h"

#define MINOR_FIRST 9
#define MINOR_LAST 14

struct python_api python;

enum need { ALWAYS, SOME };
struct symbol {
  const char *name;
  size_t offset; // in struct python_api
  enum need need;
};
static const struct symbol symbols[] = {
#define PYTHON(need, result, name, arguments) {#name, offsetof(struct python_api, name), need},
#include "python_api.def"
#undef PYTHON
};

// RTLD_DEFAULT: the executable, then what it was linked with. A libpython that is opened later is not seen here.
static bool symbol_find(const struct symbol *symbol) {
  void *address = real_dlsym(RTLD_DEFAULT, symbol->name);
  memcpy((char *)&python + symbol->offset, &address, sizeof address);
  return address || symbol->need == SOME;
}

// Py_GetVersion gives "3.11.7 (main, ...)". Free-threaded builds say so there: "experimental free-threading build"
// (3.13) or "free-threading build" (3.14), Python/getversion.c.
static bool version_fits(void) {
  const char *version = python.Py_GetVersion();
  if (strncmp(version, "3.", 2) != 0 || strstr(version, "free-threading build")) return false;
  python.minor = atoi(version + 2);
  return python.minor >= MINOR_FIRST && python.minor <= MINOR_LAST;
}

static void objects_find(void) {
  static const char *const weak_types[] = {"_PyWeakref_RefType", "_PyWeakref_ProxyType",
                                           "_PyWeakref_CallableProxyType"};
  for (int i = 0; i < 3; i++) python.weak_types[i] = real_dlsym(RTLD_DEFAULT, weak_types[i]);
  static const char *const generator_types[] = {"PyGen_Type", "PyCoro_Type", "PyAsyncGen_Type"};
  for (int i = 0; i < 3; i++) python.generator_types[i] = real_dlsym(RTLD_DEFAULT, generator_types[i]);
  python.set_types[0] = real_dlsym(RTLD_DEFAULT, "PySet_Type");
  python.set_types[1] = real_dlsym(RTLD_DEFAULT, "PyFrozenSet_Type");
  python.module_type = real_dlsym(RTLD_DEFAULT, "PyModule_Type");
  python.function_type = real_dlsym(RTLD_DEFAULT, "PyFunction_Type");
  python.cell_type = real_dlsym(RTLD_DEFAULT, "PyCell_Type");
  python.frame_type = real_dlsym(RTLD_DEFAULT, "PyFrame_Type");
  python.code_type = real_dlsym(RTLD_DEFAULT, "PyCode_Type");
  python.runtime = real_dlsym(RTLD_DEFAULT, "_PyRuntime");
  python.string_type = real_dlsym(RTLD_DEFAULT, "PyUnicode_Type");
  python.int_type = real_dlsym(RTLD_DEFAULT, "PyLong_Type");
  python.none = real_dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
}

enum python_found python_api_find(void) {
  if (!real_dlsym(RTLD_DEFAULT, "PyMem_SetAllocator")) return PYTHON_ABSENT;
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
    if (!symbol_find(&symbols[i])) return PYTHON_UNSUPPORTED;
  python.thread_state = python.PyThreadState_GetUnchecked; // its name since 3.13
  if (!python.thread_state) python.thread_state = python._PyThreadState_UncheckedGet;
  objects_find();
  if (!python.thread_state || !python.code_type || !python.none || !version_fits()) return PYTHON_UNSUPPORTED;
  return PYTHON_FOUND;
}
