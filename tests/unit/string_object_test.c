// sources: pyhooks/string_object.c
// What is taken for a str: exactly what PyUnicode_New makes, by every layout of it.
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "python_api.h"
#include "string_object.h"

struct python_api python;
static char type, other_type;

// The plain bytes of a block of `size_bytes` that begins as a str of `length` characters does.
static size_t plain(void *of_type, size_t length, size_t size_bytes) {
  static uintptr_t block[64];
  memset(block, 0, sizeof block);
  block[1] = (uintptr_t)of_type;
  block[2] = length;
  return string_object_plain_bytes((uintptr_t)block, size_bytes);
}

static void layout_check(int minor, size_t ascii_bytes, size_t compact_bytes) {
  python.minor = minor;
  for (size_t length = 0; length < 70; length++) {
    assert(plain(&type, length, ascii_bytes + length + 1) == 40);
    for (size_t width = 1; width <= 4; width *= 2)
      assert(plain(&type, length, compact_bytes + (length + 1) * width) == 40);
    assert(plain(&other_type, length, ascii_bytes + length + 1) == 0);
  }
  assert(plain(&type, 10, ascii_bytes + 10) == 0);
  assert(plain(&type, 10, ascii_bytes + 12) == 0);
}

// [0, str, x, ...]: the items of a list.
static void array_check(void) {
  static char target;
  for (size_t items = 3; items < 40; items++) assert(plain(&type, (uintptr_t)&target, items * sizeof(void *)) == 0);
  assert(plain(&type, 2, 2 * sizeof(void *)) == 0);
}

int main(void) {
  python.string_type = &type;
  layout_check(9, 48, 72);
  layout_check(11, 48, 72);
  layout_check(12, 40, 56);
  layout_check(14, 40, 56);
  array_check();
  python.string_type = NULL;
  assert(plain(NULL, 10, 51) == 0);
  puts("ok");
  return 0;
}
