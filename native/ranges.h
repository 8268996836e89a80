// Blocks that are ranges: anonymous private mappings and the committed parts of reservations. Sorted by address,
// not overlapping; all under LOCK_RANK_RANGES. A data structure: what it means for the counters is in hook_mmap.c.
#ifndef HT_RANGES_H
#define HT_RANGES_H

#include "words.h"

struct range {
  uintptr_t start, end;
  site_id site;         // of the block; 0: a reservation or the allocator's, holds no bytes
  uint32_t block;       // pieces of one mapping share it (range_block_*); 0: none
  uint16_t slack_bytes; // (end - start) - bytes asked for: mmap rounds up to pages. On a block's last piece
  uint8_t kind;         // enum ht_kind
  uint8_t flags;        // RANGE_*
};
#define RANGE_RESERVED 1u  // lies in a PROT_NONE reservation; with a site: a committed part
#define RANGE_INHERITED 2u // the parent's (fork): a root
#define RANGE_LAZY 4u      // given back by madvise at some time: only resident pages count at report time
#define RANGE_ALLOCATOR 8u // made by the program's allocator or a GPU's driver for itself: neither block nor root
#define RANGE_ARENA 16u    // Python's small-object arenas: counted through the objects in them

HT_INLINE size_t range_bytes(const struct range *range) { return range->end - range->start - range->slack_bytes; }

bool ranges_init(void);
// Reading, for scan and report (world parked, or the lock held).
const struct range *range_array(uint32_t *count);
const struct range *range_find(uintptr_t address); // NULL: none there
// The first range that ends behind `address`; `count`: how many there are from it on.
struct range *range_from(uintptr_t address, uint32_t *count);

// The caller holds the lock. `cut`: makes `at` a border, splitting the range that spans it.
void range_cut_locked(uintptr_t at);
// The ranges that lie in [start, end), after cutting at both: index of the first, their number.
struct range *range_span_locked(uintptr_t start, uintptr_t end, uint32_t *count);
bool range_insert_locked(const struct range *range); // false: no memory
void range_remove_locked(struct range *first, uint32_t count);

// Blocks of several pieces: a mapping that was cut. A block ends with its last piece.
uint32_t range_block_new_locked(void);
bool range_block_drop_locked(uint32_t block); // one piece less; true: that was the last
void ranges_fork_child(void);

struct lock *range_lock(void);

#endif
