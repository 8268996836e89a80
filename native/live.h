// The live map: a shadow of the address space, 4 bytes for each 16-byte granule, at a block's first granule.
//
//   entry  31............6 5....0
//          site id         slack      requested bytes = malloc_usable_size - slack
//
// Slack 63 means: the size stands in the side table (large slack: big blocks, aligned ones). A zero entry is "no
// block known". Taking an entry is one atomic exchange, so a signal handler may free at any time.
//
//   live_leaves[address / 32 MiB] -> leaf: 2^21 entries, mapped when the first block of its 32 MiB is recorded
#ifndef HT_LIVE_H
#define HT_LIVE_H

#include "site.h"
#include "words.h"

#define LIVE_SLACK_BITS 6
#define LIVE_SLACK_SIDE 63u
#define LIVE_LEAF_SHIFT 25 // 32 MiB of addresses a leaf
#define LIVE_LEAF_ENTRIES (1u << (LIVE_LEAF_SHIFT - 4))
#define LIVE_LEAVES (1u << (47 - LIVE_LEAF_SHIFT))

extern HT_HIDDEN uint32_t *live_leaves[LIVE_LEAVES];
// The numbers of the leaves that exist, as they came; the scan sorts them. (A leaf's number may still be missing, 0,
// while no block is in it.)
#define LIVE_LEAVES_LISTED (1u << 17) // 4 TiB of heap; blocks beyond it are counted, but not scanned
extern uint32_t live_leaf_order[LIVE_LEAVES_LISTED];
extern uint32_t live_leaf_count;
// Bytes a block can be written to: the allocator's own malloc_usable_size.
extern size_t (*live_usable_call)(void *block);
// True when blocks are glibc's and its chunk header was seen to be as live_usable_size reads it.
extern HT_HIDDEN bool live_usable_glibc;

bool live_init(size_t (*usable_size)(void *), bool is_glibc);
uint32_t *live_leaf_make(uintptr_t address);
void live_side_put(uintptr_t start, size_t size_bytes);
size_t live_side_take(uintptr_t start);
size_t live_side_peek(uintptr_t start);
size_t live_side_read(uintptr_t start); // the caller holds the lock, or the world is parked

// glibc's malloc.c, "chunks": the word before a block is the chunk's size with three flag bits; 2: mapped on its
// own, and then the header is two words. Proved at start-up against malloc_usable_size.
HT_INLINE size_t live_usable_size(uintptr_t start) {
  if (unlikely(!live_usable_glibc)) return live_usable_call((void *)start);
  size_t header = ((const size_t *)start)[-1];
  return (header & ~7ul) - (header & 2 ? 16 : 8);
}

HT_INLINE uint32_t *live_entry(uintptr_t start) {
  uint32_t *leaf = __atomic_load_n(&live_leaves[(start >> LIVE_LEAF_SHIFT) & (LIVE_LEAVES - 1)], __ATOMIC_RELAXED);
  return leaf ? &leaf[(start >> 4) & (LIVE_LEAF_ENTRIES - 1)] : NULL;
}

// The size of the block at `start` whose entry is `entry`.
HT_INLINE size_t live_entry_size(uintptr_t start, uint32_t entry, size_t (*side)(uintptr_t)) {
  uint32_t slack = entry & LIVE_SLACK_SIDE;
  return unlikely(slack == LIVE_SLACK_SIDE) ? side(start) : live_usable_size(start) - slack;
}

// Remembers a block. Returns the entry that still stood there (a free that was never seen), 0 for none; its size is
// not known any more.
HT_INLINE uint32_t live_put(uintptr_t start, size_t size_bytes, site_id site) {
  uint32_t *entry = live_entry(start);
  if (unlikely(!entry)) {
    uint32_t *leaf = live_leaf_make(start);
    if (!leaf) return 0; // out of memory for the map: the block is not followed
    entry = &leaf[(start >> 4) & (LIVE_LEAF_ENTRIES - 1)];
  }
  size_t slack = live_usable_size(start) - size_bytes;
  if (unlikely(slack >= LIVE_SLACK_SIDE)) {
    live_side_put(start, size_bytes);
    slack = LIVE_SLACK_SIDE;
  }
  uint32_t before = *entry;
  __atomic_store_n(entry, site.value << LIVE_SLACK_BITS | (uint32_t)slack, __ATOMIC_RELEASE);
  return before;
}

// Removes the block that starts at `start`; false: not known.
HT_INLINE bool live_take(uintptr_t start, struct block *taken) {
  uint32_t *entry = live_entry(start);
  if (!entry || !*entry) return false;
  uint32_t value = *entry; // two threads freeing one block is the program's own error: no need for an exchange
  *taken = (struct block){start, live_entry_size(start, value, live_side_take), {value >> LIVE_SLACK_BITS}};
  __atomic_store_n(entry, 0, __ATOMIC_RELEASE);
  return true;
}

// The block as it is, not removed.
HT_INLINE bool live_peek(uintptr_t start, struct block *block) {
  uint32_t *entry = live_entry(start);
  uint32_t value = entry ? __atomic_load_n(entry, __ATOMIC_ACQUIRE) : 0;
  if (!value) return false;
  *block = (struct block){start, live_entry_size(start, value, live_side_peek), {value >> LIVE_SLACK_BITS}};
  return true;
}

// ---- for the leak scan (live_scan.c); the world is parked or forked

// Maps what the scan needs. False: no memory. Between resident_begin and resident_end.
bool live_scan_begin(void);
void live_scan_end(void);
// The block that holds `address` (start or inside; of an empty block, its start). Inherited blocks are found too.
bool live_find(uintptr_t address, struct block *block);
// The block that starts at `start`, which is known to be one.
void live_block(uintptr_t start, struct block *block);
// Asks for the memory that live_block and a reader of the block will look at.
void live_prefetch(uintptr_t start);
// Asks for the memory that live_point(address) will look at first.
void live_prefetch_marks(uintptr_t address);
// Calls `visit` for each block, or each that is not marked as reached, by address, until it returns false.
void live_each(bool (*visit)(const struct block *block, void *context), void *context);
void live_each_unreached(bool (*visit)(const struct block *block, void *context), void *context);
// No block starts outside [*low, *high).
void live_bounds(uintptr_t *low, uintptr_t *high);

// Two marks for each block, by its start.
enum live_mark { LIVE_REACHED, LIVE_INDIRECT };
void live_mark(uintptr_t start, enum live_mark which);
bool live_marked(uintptr_t start, enum live_mark which);
// The start of the block that holds `address`; 0: none does. LIVE_POINT_MARKED: the last block at or before it has this
// mark or LIVE_REACHED already, so that it makes no difference.
#define LIVE_POINT_MARKED 1u
uintptr_t live_point(uintptr_t address, enum live_mark which);

struct lock *live_lock(void);

#endif
