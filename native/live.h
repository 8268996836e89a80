// The live map: a shadow of the address space, 4 bytes for each granule, at a block's first granule.
//
//   entry  31............6   5    4....0
//          site id         half   slack      requested bytes = malloc_usable_size - slack
//
// glibc's chunks are 32 bytes or more (malloc.c, MINSIZE), so that no two blocks start in one granule of 32 bytes;
// half: the block starts in its upper half. With other allocators a granule is 16 bytes, and slack has bit 5 too. The
// largest slack means: the size stands in the side table (big blocks, aligned ones). A zero entry is "no block known".
//
//   live_leaves[address / 32 MiB] -> leaf: up to 2^21 entries, mapped when the first block of its 32 MiB is recorded
#ifndef HT_LIVE_H
#define HT_LIVE_H

#include "site.h"
#include "words.h"

#define LIVE_SLACK_BITS 6  // slack and half
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
// After attach: the allocator's memory holds blocks from before, which the map does not know.
extern bool live_partial;
// True when blocks are glibc's and its chunk header was seen to be as live_usable_size reads it.
extern HT_HIDDEN bool live_usable_glibc;
extern HT_HIDDEN bool live_wide; // granules are of 32 bytes

bool live_init(size_t (*usable_size)(void *), bool is_glibc);
uint32_t *live_leaf_make(uintptr_t address);
void live_side_put(uintptr_t start, size_t size_bytes);
size_t live_side_take(uintptr_t start);
size_t live_side_peek(uintptr_t start);
size_t live_side_read(uintptr_t start); // the caller holds the lock, or the world is parked

#define CHUNK_MAPPED 2u // IS_MMAPPED in the header of a glibc chunk: a mapping of its own
// CHUNK_MAPPED where the size in the header of such a chunk counts both words of the header (before glibc 2.43), else
// 0.
extern HT_HIDDEN size_t live_mapped_flag;

// glibc's malloc.c, "chunks": the word before a block is the chunk's size, which counts that word, with three flag
// bits. Proved at start-up against malloc_usable_size.
HT_INLINE size_t live_chunk_header(uintptr_t start) { return ((const size_t *)start)[-1]; }
// Of a chunk that is not mapped on its own.
HT_INLINE size_t live_chunk_common_bytes(size_t header) { return (header & ~7ul) - 8; }
HT_INLINE size_t live_chunk_bytes(uintptr_t start) {
  size_t header = live_chunk_header(start);
  return live_chunk_common_bytes(header) - ((header & live_mapped_flag) << 2);
}

HT_INLINE size_t live_usable_size(uintptr_t start) {
  return likely(live_usable_glibc) ? live_chunk_bytes(start) : live_usable_call((void *)start);
}

// `wide` is live_wide. The hooks' own functions ask for it once, so that the rest of their way knows its shifts.

// Its number in the leaf.
HT_INLINE uint32_t live_granule_of(uintptr_t address, bool wide) {
  return (uint32_t)(address & ((1ul << LIVE_LEAF_SHIFT) - 1)) >> (4 + wide);
}

HT_INLINE uint32_t live_granule(uintptr_t address) { return live_granule_of(address, live_wide); }

HT_INLINE uint32_t live_half(uintptr_t start, bool wide) { return (uint32_t)(start & (uintptr_t)wide << 4) << 1; }

// The slack that stands for the side table.
HT_INLINE uint32_t live_slack_side(bool wide) { return 63u >> wide; }

HT_INLINE uint32_t *live_entry(uintptr_t start, bool wide) {
  uint32_t *leaf = __atomic_load_n(&live_leaves[(start >> LIVE_LEAF_SHIFT) & (LIVE_LEAVES - 1)], __ATOMIC_RELAXED);
  return leaf ? &leaf[live_granule_of(start, wide)] : NULL;
}

// False: `entry`, of the granule of `start`, is empty or of a block that starts in the other half.
HT_INLINE bool live_entry_is(uint32_t entry, uintptr_t start, bool wide) {
  return entry && (entry & (uint32_t)wide << 5) == live_half(start, wide);
}

// The size of the block at `start` whose entry is `entry`.
HT_INLINE size_t live_entry_size(uintptr_t start, uint32_t entry, bool wide, size_t (*side)(uintptr_t)) {
  uint32_t slack = entry & live_slack_side(wide);
  return unlikely(slack == live_slack_side(wide)) ? side(start) : live_usable_size(start) - slack;
}

HT_INLINE uint32_t *live_entry_make(uintptr_t start, bool wide) {
  uint32_t *entry = live_entry(start, wide);
  if (likely(entry)) return entry;
  uint32_t *leaf = live_leaf_make(start);
  return leaf ? &leaf[live_granule_of(start, wide)] : NULL; // out of memory for the map: the block is not followed
}

HT_INLINE void live_entry_set(uint32_t *entry, uintptr_t start, site_id site, uint32_t slack, bool wide) {
  __atomic_store_n(entry, site.value << LIVE_SLACK_BITS | live_half(start, wide) | slack, __ATOMIC_RELEASE);
}

HT_INLINE uint32_t live_put_as(uintptr_t start, size_t size_bytes, site_id site, bool wide) {
  uint32_t *entry = live_entry_make(start, wide);
  if (unlikely(!entry)) return 0;
  size_t slack = live_usable_size(start) - size_bytes;
  if (unlikely(slack >= live_slack_side(wide))) {
    live_side_put(start, size_bytes);
    slack = live_slack_side(wide);
  }
  uint32_t before = *entry;
  live_entry_set(entry, start, site, (uint32_t)slack, wide);
  return before;
}
uint32_t live_put_narrow(uintptr_t start, size_t size_bytes, site_id site);

// Remembers a block. Returns the entry that still stood there (a free that was never seen), 0 for none; its size is
// not known any more.
HT_INLINE uint32_t live_put(uintptr_t start, size_t size_bytes, site_id site) {
  return likely(live_wide) ? live_put_as(start, size_bytes, site, true) : live_put_narrow(start, size_bytes, site);
}

// The same for a block that is not the program's malloc's: its size stands in the side table, and nothing is read
// around it. No block at `start` is known (live_take), or it becomes this one. Blocks are 32 bytes apart, at multiples
// of 16.
void live_put_foreign(uintptr_t start, size_t size_bytes, site_id site);

HT_INLINE bool live_take_as(uintptr_t start, struct block *taken, bool wide) {
  uint32_t *entry = live_entry(start, wide);
  if (!entry || !live_entry_is(*entry, start, wide)) return false;
  uint32_t value = *entry; // two threads freeing one block is the program's own error: no need for an exchange
  *taken = (struct block){start, live_entry_size(start, value, wide, live_side_take), {value >> LIVE_SLACK_BITS}};
  __atomic_store_n(entry, 0, __ATOMIC_RELEASE);
  return true;
}
bool live_take_narrow(uintptr_t start, struct block *taken);

// Removes the block that starts at `start`; false: not known.
HT_INLINE bool live_take(uintptr_t start, struct block *taken) {
  return likely(live_wide) ? live_take_as(start, taken, true) : live_take_narrow(start, taken);
}

// The block as it is, not removed.
HT_INLINE bool live_peek(uintptr_t start, struct block *block) {
  uint32_t *entry = live_entry(start, live_wide);
  uint32_t value = entry ? __atomic_load_n(entry, __ATOMIC_ACQUIRE) : 0;
  if (!live_entry_is(value, start, live_wide)) return false;
  size_t size_bytes = live_entry_size(start, value, live_wide, live_side_peek);
  *block = (struct block){start, size_bytes, {value >> LIVE_SLACK_BITS}};
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
// No block has a byte in the page of `address`, nor is an empty block there.
bool live_page_is_empty(uintptr_t address);
// Asks for the memory that live_block and a reader of the block will look at.
void live_prefetch(uintptr_t start);
// Asks for the memory that live_point(address) will look at first.
void live_prefetch_marks(uintptr_t address);
// Calls `visit` for each block, or each that is not marked as reached, by address, until it returns false.
void live_each(bool (*visit)(const struct block *block, void *context), void *context);
void live_each_unreached(bool (*visit)(const struct block *block, void *context), void *context);
// Each block, without live_scan_begin: for who looks once and needs no marks. World parked.
void live_walk(bool (*visit)(const struct block *block, void *context), void *context);
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
