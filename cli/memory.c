#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"

void memory_missing(void) {
  problem_print("memory", "the system gave no more", "close other programs or raise the limit (ulimit -v)");
  exit(2);
}

static void *memory_checked(void *memory) {
  if (!memory) memory_missing();
  return memory;
}

void *memory_get(size_t count, size_t item_bytes) { return memory_checked(calloc(count ? count : 1, item_bytes)); }

void *memory_grow(void *items, size_t count, size_t *capacity, size_t item_bytes) {
  if (count < *capacity) return items;
  *capacity = *capacity ? *capacity * 2 : 16;
  return memory_checked(reallocarray(items, *capacity, item_bytes));
}

char *memory_text(const char *text, size_t bytes) {
  char *copy = memory_get(bytes + 1, 1);
  memcpy(copy, text, bytes);
  return copy;
}

char *memory_format(const char *format, ...) {
  va_list arguments;
  char *text = NULL;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  return memory_checked(length < 0 ? NULL : text);
}
