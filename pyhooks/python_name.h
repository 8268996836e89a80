// The names in a code object as UTF-8.
#ifndef HT_PYTHON_NAME_H
#define HT_PYTHON_NAME_H

#include <stddef.h>

#define PYTHON_NAME_BYTES 4096 // PATH_MAX; what is longer is cut between two characters

struct python_names {
  const char *file, *function; // not NUL-terminated; good until the next call
  size_t file_bytes, function_bytes;
};

// `code` NULL: the names of what runs without any Python code. The caller holds site_lock.
void python_names_read(const void *code, struct python_names *names);

#endif
