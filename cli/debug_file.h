// The separate debug file of a module.
#ifndef HT_DEBUG_FILE_H
#define HT_DEBUG_FILE_H

#include "elf_file.h"

// Looks where gdb does (build-id under /usr/lib/debug and in debuginfod's cache, then .gnu_debuglink beside the module,
// in .debug and under /usr/lib/debug). Returns the path in new memory and opens *debug; NULL: there is none. A file of
// the right name from another build is refused: *refused is its path in new memory, else NULL.
char *debug_file_find(const char *module_path, const struct elf *module, struct elf **debug, char **refused);

#endif
