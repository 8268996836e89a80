// Which blocks are str objects, and what of them is no reference. Read from memory alone.
#ifndef HT_STRING_OBJECT_H
#define HT_STRING_OBJECT_H

#include "../native/words.h"

// The leading bytes of the block that hold no reference to memory of its own; 0: it is no str.
size_t string_object_plain_bytes(uintptr_t start, size_t size_bytes);

#endif
