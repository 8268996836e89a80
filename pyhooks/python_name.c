#include "python_name.h"

#include <string.h>

#include "running_frame.h"

// Allocations while no Python code runs: the interpreter starting up or working for C code.
static const char no_code[] = "[no Python code]";

// Guarded by site_lock: too large for the stack of a thread that may have 16 KiB.
static char file_text[PYTHON_NAME_BYTES], function_text[PYTHON_NAME_BYTES];

// One character as UTF-8; returns its bytes. A surrogate escape (U+DC80 to U+DCFF) is the raw byte of a name that
// was not UTF-8 (PEP 383).
static size_t utf8_put(char *at, uint32_t character) {
  if (character < 0x80 || (character >= 0xdc80 && character <= 0xdcff)) return *at = (char)character, 1;
  size_t bytes = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = bytes - 1; i > 0; i--, character >>= 6) at[i] = (char)(0x80 | (character & 0x3f));
  at[0] = (char)(lead[bytes] | character);
  return bytes;
}

size_t python_string_read(const void *string, char *text, size_t capacity) {
  ssize_t length = string ? python.PyUnicode_GetLength((void *)string) : 0;
  size_t bytes = 0;
  for (ssize_t i = 0; i < length && bytes + 4 <= capacity; i++)
    bytes += utf8_put(text + bytes, python.PyUnicode_ReadChar((void *)string, i));
  return bytes;
}

static size_t string_length(const void *string) {
  return string ? (size_t)python.PyUnicode_GetLength((void *)string) : 0;
}

bool python_string_ends_in(const void *string, const char *text) {
  size_t length = string_length(string), wanted = strlen(text), i = 0;
  if (length < wanted) return false;
  ssize_t first = (ssize_t)(length - wanted);
  while (i < wanted && python.PyUnicode_ReadChar((void *)string, first + (ssize_t)i) == (uint8_t)text[i]) i++;
  return i == wanted;
}

bool python_string_is(const void *string, const char *text) {
  return string_length(string) == strlen(text) && python_string_ends_in(string, text);
}

static size_t name_read(const char *code, uint16_t field, char *text) {
  return python_string_read(field_pointer(code, field), text, PYTHON_NAME_BYTES);
}

void python_names_read(const void *code, struct python_names *names) {
  *names = (struct python_names){.file = "", .function = no_code, .function_bytes = sizeof no_code - 1};
  if (!code) return;
  names->file = file_text;
  names->file_bytes = name_read(code, frame_layout.code_filename, file_text);
  names->function = function_text;
  names->function_bytes = name_read(code, frame_layout.code_name, function_text);
}
