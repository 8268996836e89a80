// Objects that refer to nothing: what of them the leak scan need not read. Read from memory alone.
#ifndef HT_PLAIN_OBJECT_H
#define HT_PLAIN_OBJECT_H

#include "../native/words.h"

// The leading bytes of the block that hold no reference to memory; 0: it is none of these objects, or not surely.
size_t plain_object_bytes(uintptr_t start, size_t size_bytes);

#endif
