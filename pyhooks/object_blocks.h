// The blocks that an object's memory is in: its own, and those of its buffers.
#ifndef HT_OBJECT_BLOCKS_H
#define HT_OBJECT_BLOCKS_H

#include "../native/words.h"

// The block that holds the object at `address`; site 0: none known.
struct block object_block_at(uintptr_t address);

// Calls `visit` for each block that the object points to and that may be a buffer of its own: a list's items, a
// bytearray's bytes, an array's data, an instance's values.
typedef void (*object_buffer_visit)(const struct block *block, const void *owner, uint32_t context);
void object_buffers_each(const void *object, object_buffer_visit visit, uint32_t context);

#endif
