#include "runtime_frame.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "file_format.h"

static bool begins_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

// What may follow a library's name: its version and `.so`, with the hash that auditwheel puts in.
static bool is_library_suffix(const char *rest) {
  return *rest == 0 || *rest == '.' || *rest == '-' || *rest == '_' || isdigit((unsigned char)*rest);
}

static bool is_runtime_module(const char *module) {
  static const char *const names[] = {
      "libc",
      "libpthread",
      "libdl",
      "ld-linux",
      "ld-musl",
      "libstdc++",
      "libc++",
      "libc++abi",
      "libgcc_s",
      "libsupc++",
      "libjemalloc",
      "libmimalloc",
      "libtcmalloc",
      "libtcmalloc_minimal",
      "libpython",
      "libpython2",
      "libpython3",
      "libKGENCompilerRTShared",
      "libAsyncRTRuntimeGlobals",
      "libAsyncRTMojoBindings",
      "libMSupportGlobals",
  };
  const char *slash = strrchr(module, '/');
  const char *name = slash ? slash + 1 : module;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (begins_with(name, names[i]) && is_library_suffix(name + strlen(names[i]))) return true;
  // An interpreter with libpython inside: python, python3, python3.13t.
  if (!begins_with(name, "python")) return false;
  const char *rest = name + strlen("python");
  rest += strspn(rest, "0123456789.");
  return rest[strspn(rest, "td")] == 0;
}

static bool is_runtime_file(const char *file) {
  // libstdc++'s and libc++'s headers, Rust's library as its builds name it, Mojo's (relative, sources not shipped).
  static const char *const parts[] = {"/include/c++/", "/c++/v1/", "/rustc/", "/rust/library/", "/libstdc++-v3/"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(file, parts[i])) return true;
  size_t length = strlen(file);
  bool mojo = length > 5 && strcmp(file + length - 5, ".mojo") == 0;
  return mojo && (begins_with(file, "std/") || begins_with(file, "stdlib/") || begins_with(file, "oss/modular/mojo/"));
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
