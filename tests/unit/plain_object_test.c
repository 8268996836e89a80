// sources: pyhooks/plain_object.c pyhooks/string_object.c
// What is taken for an object without references: exactly what the interpreter makes, and no array of pointers.
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "plain_object.h"
#include "python_api.h"

struct python_api python;
static char int_type, string_type, target;

// The plain bytes of a block of `size_bytes` that begins with these words.
static size_t plain(uintptr_t references, void *type, uintptr_t third, size_t size_bytes) {
  static uintptr_t block[64];
  memset(block, 0, sizeof block);
  block[0] = references;
  block[1] = (uintptr_t)type;
  block[2] = third;
  return plain_object_bytes((uintptr_t)block, size_bytes);
}

static void int_check(int minor, uintptr_t (*size_word)(uintptr_t digits, bool negative)) {
  python.minor = minor;
  for (uintptr_t digits = 0; digits < 70; digits++) {
    size_t bytes = 24 + 4 * (digits ? digits : 1);
    for (int negative = 0; negative < 2; negative++) {
      assert(plain(3, &int_type, size_word(digits, negative), bytes) == bytes);
      assert(plain(UINT32_MAX, &int_type, size_word(digits, negative), bytes) == bytes); // never dies
      assert(plain(3, &target, size_word(digits, negative), bytes) == 0);
      assert(plain(3, &int_type, size_word(digits, negative), bytes + 8) == 0);
    }
  }
  assert(plain(3, &int_type, size_word(1, false), 32) == 32);
}

static uintptr_t size_signed(uintptr_t digits, bool negative) { return negative ? -digits : digits; }
static uintptr_t size_tagged(uintptr_t digits, bool negative) { return digits << 3 | (digits ? negative * 2u : 1u); }

// What no digit is: of 32 bits.
static void digits_check(void) {
  static uintptr_t block[4];
  block[0] = 3, block[1] = (uintptr_t)&int_type, block[2] = size_tagged(1, false), block[3] = (1ul << 30) - 1;
  assert(plain_object_bytes((uintptr_t)block, 32) == 32);
  block[3] = 1ul << 30;
  assert(plain_object_bytes((uintptr_t)block, 32) == 0);
}

// [item, type, x, ...] of any length, of a heap at a high address and at the lowest that one can have.
static void array_check(void) {
  for (size_t items = 2; items < 60; items++) {
    assert(plain(0x7f0123456780, &int_type, 0, items * 8) == 0);
    assert(plain(0x7f0123456780, &int_type, 0x7f0123456780, items * 8) == 0);
    assert(plain(0xc12340, &int_type, 0, items * 8) == 0);
    assert(plain(0x3c012340, &int_type, 0, items * 8) == 0);
    assert(plain(0, &int_type, (uintptr_t)&target, items * 8) == 0);
  }
}

int main(void) {
  python.int_type = &int_type;
  python.string_type = &string_type;
  int_check(9, size_signed);
  int_check(11, size_signed);
  int_check(12, size_tagged);
  int_check(14, size_tagged);
  digits_check();
  array_check();
  assert(plain(1, &string_type, 10, 51) == 40); // a str: its head, string_object_test.c
  python.int_type = NULL;
  assert(plain(3, NULL, 1, 32) == 0);
  puts("ok");
  return 0;
}
