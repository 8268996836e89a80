#include "string_object.h"

#include "python_api.h"

// PyASCIIObject, Include/cpython/unicodeobject.h: the object's head, length, hash, and a `state` of one byte in a word
// whose other bytes nobody ever writes. What was there before stays: of an old pointer seven bytes are left, and they
// still lead to within 256 bytes of where it led. There are so many texts that one of them pointed into a lost block of
// 400 KiB in every tenth run of pytest.
struct ascii_object {
  struct python_object head;
  size_t length;
  size_t hash;
  uintptr_t state;
};

// The characters follow, or first the UTF-8 form; up to 3.11 also a wchar_t form, a pointer and for the longer head a
// length.
static size_t ascii_bytes(void) { return sizeof(struct ascii_object) + (python.minor <= 11) * sizeof(void *); }
static size_t compact_bytes(void) { return ascii_bytes() + (python.minor <= 11 ? 3 : 2) * sizeof(void *); }

// PyUnicode_New: a character takes 1, 2 or 4 bytes, and one more of them ends the text. An array whose second pointer
// is the type has no such length after it.
static bool is_size(size_t length, size_t size_bytes) {
  if (length >= size_bytes) return false;
  if (size_bytes == ascii_bytes() + length + 1) return true;
  for (size_t width = 1; width <= 4; width *= 2)
    if (size_bytes == compact_bytes() + (length + 1) * width) return true;
  return false;
}

#define STATE_READY 0x80u // the last of the bit fields

bool string_object_is_ready(const void *string) {
  return python.minor >= 12 || ((const struct ascii_object *)string)->state & STATE_READY;
}

size_t string_object_plain_bytes(uintptr_t start, size_t size_bytes) {
  const struct ascii_object *string = (const struct ascii_object *)start;
  if (size_bytes <= sizeof *string || !python.string_type || string->head.type != python.string_type) return 0;
  return is_size(string->length, size_bytes) ? sizeof *string : 0;
}
