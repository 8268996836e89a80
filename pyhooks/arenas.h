// Python's arenas: what the small-object allocator maps for its pools, and (3.11 on) the chunks of the frame stack.
// They are no blocks of their own: pools count through the objects in them, what lies beyond is one row.
#ifndef HT_ARENAS_H
#define HT_ARENAS_H

#include "python_api.h"

// Wraps the arena allocator that is set.
void arenas_install(void);
// Puts back what was there. The caller holds the GIL.
void arenas_remove(void);

// Whether `address` lies in an arena.
bool arenas_contain(uintptr_t address);

// Mapped bytes that no small object (`small_live_bytes` of them) takes.
uint64_t arenas_free_bytes(uint64_t small_live_bytes);

// Chunks of frame stacks, for the leak scan: which part of each holds frames. The world is parked.
bool arenas_scan_begin(void);
// The used part of the chunk that holds `address`; false: none does.
bool arenas_chunk_find(uintptr_t address, uintptr_t *start, uintptr_t *end, uint32_t *index);

#define ARENA_CHUNKS_MAX 256 // of all threads; frames in chunks beyond these keep nothing alive in the scan

#endif
