// Which blocks are str objects, and what of them is no reference. Read from memory alone.
#ifndef HT_STRING_OBJECT_H
#define HT_STRING_OBJECT_H

#include "../native/words.h"

// The leading bytes of the block that hold no reference to memory of its own; 0: it is no str.
size_t string_object_plain_bytes(uintptr_t start, size_t size_bytes);

// Whether reading the characters of a str object changes nothing: one made by old functions of C's has them in another
// form at first (up to 3.11).
bool string_object_is_ready(const void *string);

#endif
