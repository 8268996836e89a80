#include "plain_object.h"

#include "python_api.h"
#include "string_object.h"

// PyLongObject, Include/cpython/longintrepr.h: the head, one word of size and sign, digits of 30 bits in 4 bytes each.
// A small one takes 28 bytes of 32: above the number 65,535 half an old pointer may stand, and together they lead to
// where malloc makes a thread's arena.
struct int_object {
  struct python_object head;
  size_t size; // see digits_count
  uint32_t digits[];
};

#define INT_SMALL_BYTES 32u
#define DIGIT_BITS 30u // PYLONG_BITS_IN_DIGIT

// Up to 3.11 the number of digits, negative for a negative number; from 3.12 on that times 8, with bits for the sign.
static size_t digits_count(size_t size) {
  size_t count = python.minor >= 12 ? size >> 3 : (intptr_t)size < 0 ? -size : size;
  return count ? count : 1;
}

// In an array whose second pointer is the type the first one is an address: no count of references that an object has,
// and none of those that objects have that never die.
#define COUNT_LARGEST (1ul << 22)
#define COUNT_IMMORTAL (1ul << 30)

static bool is_count(uint64_t references) {
  return references < COUNT_LARGEST || (references >= COUNT_IMMORTAL && references <= UINT32_MAX);
}

static bool is_int(const struct int_object *object, size_t size_bytes) {
  size_t count = digits_count(object->size), bytes = sizeof *object + count * sizeof object->digits[0];
  if (count >= size_bytes || (size_bytes != bytes && (count != 1 || size_bytes != INT_SMALL_BYTES))) return false;
  for (size_t i = 0; i < count; i++)
    if (object->digits[i] >> DIGIT_BITS) return false;
  return true;
}

size_t plain_object_bytes(uintptr_t start, size_t size_bytes) {
  const struct python_object *object = (const struct python_object *)start;
  if (size_bytes <= sizeof(struct int_object) || !object->type) return 0;
  if (object->type == python.string_type) return string_object_plain_bytes(start, size_bytes);
  if (object->type != python.int_type || !is_count((uint64_t)object->reference_count)) return 0;
  return is_int((const struct int_object *)start, size_bytes) ? size_bytes : 0;
}
