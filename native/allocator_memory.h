// Where the program's malloc keeps its blocks and its books. Both hold pointers into blocks (free lists, the top of
// the heap, leftovers of freed blocks) that mean nothing to the program, so neither is a root.
#ifndef HT_ALLOCATOR_MEMORY_H
#define HT_ALLOCATOR_MEMORY_H

#include "maps.h"
#include "spans.h"
#include "words.h"

// Adds the allocator's memory to `holes`. World parked, between live_scan_begin and live_scan_end, under guard_run.
void allocator_memory_collect(const struct maps *maps, struct spans *holes);

// Adds only what is surely the allocator's own: around the blocks that are known there may be others.
void allocator_books_collect(const struct maps *maps, struct spans *holes);

// The end of the block or recorded mapping that holds `address`; 0: it lies in none.
uintptr_t allocator_memory_end(uintptr_t address);

#endif
