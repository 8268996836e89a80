#include "runtime_frame.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "file_format.h"

static bool begins_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

// What may follow a library's name: its version and `.so`, with the hash that auditwheel puts in. (libc-client.so is
// not libc, and a program may be called libc_test.)
static bool is_library_suffix(const char *rest) {
  bool joined = *rest == '-' || *rest == '_';
  if (!joined) return *rest == 0 || *rest == '.' || isdigit((unsigned char)*rest);
  size_t hash = strspn(rest + 1, "0123456789abcdef");
  return isdigit((unsigned char)rest[1]) || (hash == 8 && rest[1 + hash] == '.');
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool is_library(const char *name, const char *const *libraries, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (begins_with(name, libraries[i]) && is_library_suffix(name + strlen(libraries[i]))) return true;
  return false;
}

// libpython, or an interpreter with it inside: python, python3, python3.13t.
static bool is_python(const char *name) {
  static const char *const names[] = {"libpython", "libpython2", "libpython3"};
  if (is_library(name, names, sizeof names / sizeof *names)) return true;
  if (!begins_with(name, "python")) return false;
  const char *rest = name + strlen("python");
  rest += strspn(rest, "0123456789.");
  return rest[strspn(rest, "td")] == 0;
}

bool runtime_frame_is_python(const char *module) { return is_python(base_name(module)); }

bool runtime_frame_between_lines(const char *module) {
  static const char *const foreign_calls[] = {"_ctypes", "libffi"};
  const char *name = module ? base_name(module) : "";
  return is_python(name) || is_library(name, foreign_calls, sizeof foreign_calls / sizeof *foreign_calls);
}

// Lib/importlib/_bootstrap.py and _bootstrap_external.py, as they are frozen into the interpreter (Python/frozen.c).
bool runtime_frame_imports(const char *file) { return file && begins_with(file, "<frozen importlib."); }

static bool is_runtime_module(const char *module) {
  static const char *const names[] = {
      "libc",
      "libpthread",
      "libdl",
      "ld-linux-x86-64",
      "ld-musl-x86_64",
      "libstdc++",
      "libc++",
      "libc++abi",
      "libc++_shared",
      "libgcc_s",
      "libsupc++",
      "libjemalloc",
      "libmimalloc",
      "libmimalloc-secure",
      "libmimalloc-debug",
      "libtcmalloc",
      "libtcmalloc_minimal",
      "libKGENCompilerRTShared",
      "libAsyncRTRuntimeGlobals",
      "libAsyncRTMojoBindings",
      "libMSupportGlobals",
  };
  const char *name = base_name(module);
  if (begins_with(name, "libc10")) return false; // PyTorch's, not libc's
  return is_library(name, names, sizeof names / sizeof *names) || is_python(name);
}

// Where Mojo's library says that its files are.
#define MOJO_LIBRARY "Mojo/stdlib/"
#define MOJO_MEMORY MOJO_LIBRARY "std/memory/"

bool runtime_frame_tells_nothing(const char *file, const char *module) {
  bool loader = module && begins_with(base_name(module), "ld-linux");
  return loader || (file && begins_with(file, MOJO_MEMORY));
}

static bool is_runtime_file(const char *file) {
  // libstdc++'s and libc++'s headers, Rust's library as its builds name it, Mojo's (relative, sources not shipped).
  static const char *const parts[] = {"/include/c++/", "/c++/v1/", "/rustc/", "/rust/library/", "/libstdc++-v3/"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(file, parts[i])) return true;
  size_t length = strlen(file);
  bool mojo = length > 5 && strcmp(file + length - 5, ".mojo") == 0;
  return mojo && (begins_with(file, MOJO_LIBRARY) || begins_with(file, "max/mojo/") || begins_with(file, "std/") ||
                  begins_with(file, "stdlib/") || begins_with(file, "oss/modular/mojo/"));
}

// Names that are an allocator's or the C runtime's wherever they stand (a program may bring its own malloc).
static bool is_runtime_name(const char *function) {
  static const char *const names[] = {
      "malloc",
      "calloc",
      "realloc",
      "reallocarray",
      "free",
      "memalign",
      "aligned_alloc",
      "posix_memalign",
      "valloc",
      "pvalloc",
      "strdup",
      "strndup",
      "mmap",
      "mmap64",
      "mremap",
      "mprotect",
      "_start",
      "start_thread",
      "clone",
      "clone3",
      "__clone",
      "_malloc",
      "_alloc_bytes",
      "__wrap_and_execute_main",
      "__wrap_and_execute_raising_main",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(function, names[i]) == 0) return true;
  static const char *const starts[] = {
      "operator new", "__libc_start", "__libc_",    "__GI_",     "__rust_",          "__rdl_",     "__rg_",
      "_rjem_",       "je_",          "mi_malloc",  "mi_calloc", "mi_realloc",       "mi_zalloc",  "tc_malloc",
      "tc_new",       "tc_calloc",    "tc_realloc", "std::",     "__gnu_cxx::",      "void std::", "alloc::",
      "core::",       "<alloc::",     "<core::",    "<std::",    "KGEN_CompilerRT_",
  };
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (begins_with(function, starts[i])) return true;
  return false;
}

// `std::` and the like are anyone's to write into a file of his own; without a file the name has to do.
static bool is_own_code(const char *function, const char *file) {
  static const char *const library_starts[] = {
      "std::", "void std::", "alloc::", "core::", "<alloc::", "<core::", "<std::"};
  for (size_t i = 0; file && i < sizeof library_starts / sizeof *library_starts; i++)
    if (begins_with(function, library_starts[i])) return true;
  return false;
}

bool runtime_frame(const char *function, const char *file, const char *module, uint32_t module_flags) {
  // A program that brings its own malloc is the allocator's module, and all the rest of the program too.
  bool flagged =
      module_flags & HT_MODULE_LIBC || (module_flags & HT_MODULE_ALLOCATOR && !(module_flags & HT_MODULE_MAIN));
  if (flagged || (module && is_runtime_module(module)) || (file && is_runtime_file(file))) return true;
  return function && is_runtime_name(function) && !is_own_code(function, file);
}
