// The live map: a shadow of the address space, 4 bytes for each 16-byte granule, at a block's first granule.
//
//   entry  31............6 5....0
//          site id         slack      requested bytes = malloc_usable_size - slack
//
// Slack 63 means: the size stands in the side table (big slack, memalign). A zero entry is "no block known".
// Taking an entry is one atomic exchange, so the map needs no lock and a signal handler may free at any time.
#ifndef HT_LIVE_H
#define HT_LIVE_H

#include "site.h"
#include "words.h"

#define LIVE_SITE_BITS 26
#define LIVE_SLACK_BITS 6
#define LIVE_SLACK_SIDE 63u

// Remembers a block. If its granule still holds an entry (a free that was never seen), that block is returned in
// `stale` and true is returned: the caller counts it as freed. `usable_bytes` >= size_bytes.
bool live_put(uintptr_t start, size_t size_bytes, size_t usable_bytes, site_id site, struct block *stale);
// Removes the block that starts at `start`; false: not known. `usable_bytes` as malloc_usable_size says.
bool live_take(uintptr_t start, size_t usable_bytes, struct block *taken);
// The block as it is, not removed.
bool live_peek(uintptr_t start, size_t usable_bytes, struct block *block);

// ---- for the leak scan; the world is parked or forked

// The block that holds `address` (start or inside). Needs live_scan_begin. Inherited blocks are found too.
bool live_find(uintptr_t address, struct block *block);
// Calls `visit` for each block (address order inside a leaf), until it returns false.
void live_each(bool (*visit)(const struct block *block, void *context), void *context);
// True when a block was ever recorded in this 64 MiB stretch: the mapping there is the allocator's, not a root.
bool live_touched(uintptr_t start, uintptr_t end);

// Marks, one bit a granule, kept apart from the entries. live_scan_begin maps and clears them (false: no memory)
// and sorts the big blocks; live_scan_end gives them back.
bool live_scan_begin(void);
void live_scan_end(void);
// Sets the mark of the block that starts at `start`; returns whether it was set before.
bool live_mark(uintptr_t start, int which);  // which: 0 reachable, 1 indirect
bool live_marked(uintptr_t start, int which);

// Bytes a real block can be written to; set at start-up to the allocator's own or to a reader of glibc's chunks.
extern size_t (*live_usable_size)(void *block);

struct lock *live_lock(void);

#endif
