// Blocks that are ranges: anonymous private mappings and the committed parts of reservations. Sorted by address;
// all under LOCK_RANK_RANGES. Device, pinned and managed memory live here as well (gpu/).
#ifndef HT_RANGES_H
#define HT_RANGES_H

#include "words.h"

struct range {
  uintptr_t start, end;
  site_id site;   // 0: a reservation (PROT_NONE), holds no bytes by itself
  uint8_t kind;   // enum ht_kind
  uint8_t flags;  // RANGE_*
  uint32_t requested_slack; // (end - start) - bytes asked for: mmap rounds up to pages
};
#define RANGE_RESERVED 1u  // PROT_NONE, commits come by mprotect
#define RANGE_INHERITED 2u // the parent's
#define RANGE_LAZY 4u      // madvised away at some time: only resident pages count at report time
#define RANGE_ALLOCATOR 8u // made by the program's allocator for itself: neither block nor root
#define RANGE_ARENA 16u    // Python's small-object arenas: counted through the objects in them

// Reading, for scan and report (world parked, or the lock held): sorted, not overlapping.
const struct range *range_array(uint32_t *count);
const struct range *range_find(uintptr_t address);
struct lock *range_lock(void);

#endif
