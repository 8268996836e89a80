// The names in a code object as UTF-8.
#ifndef HT_PYTHON_NAME_H
#define HT_PYTHON_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define PYTHON_NAME_BYTES 4096 // PATH_MAX; what is longer is cut between two characters

struct python_names {
  const char *file, *function; // not NUL-terminated; good until the next call
  size_t file_bytes, function_bytes;
};

// A Python string (NULL: an empty one) as UTF-8 without a NUL; what does not fit is left out. Returns its bytes.
size_t python_string_read(const void *string, char *text, size_t capacity);

// Whether a Python string (NULL: an empty one) is `text`, which is ASCII, or ends in it.
bool python_string_is(const void *string, const char *text);
bool python_string_ends_in(const void *string, const char *text);

// `code` NULL: the names of what runs without any Python code. The caller holds site_lock.
void python_names_read(const void *code, struct python_names *names);

#endif
