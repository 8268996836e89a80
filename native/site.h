// Sites: one (stack, kind) each, with its counters. A site is never removed.
#ifndef HT_SITE_H
#define HT_SITE_H

#include "words.h"

// 64 bytes, one cache line. Counters of a one-thread program are updated here at once; with several threads each
// keeps deltas (count.h) and folds them in under `busy`.
struct site {
  uint32_t tag;   // upper half of the stack's hash
  uint32_t node;  // node_id of the innermost frame
  uint32_t epoch; // the peak epoch of the last update
  uint32_t peak_blocks_saved;
  uint64_t allocations, frees;
  uint64_t allocated_bytes, freed_bytes;
  uint64_t peak_bytes_saved; // live bytes before the first update of `epoch`, that is at the last peak
  uint32_t temporaries;
  uint8_t busy; // spin bit: a fold is in progress
  uint8_t kind;
  uint16_t flags;
};
_Static_assert(sizeof(struct site) == 64, "a site is one cache line");

#define LIVE_MAP_SITE_BITS 26 // what an entry of the live map has room for
#define SITE_SIGNAL 1u        // site of records made for a signal handler inside a hook: no stack
#define SITE_SIGNAL_MAP 2u    // the same for mappings
#define SITE_OVERFLOW 3u      // site of everything once the table is full
#define SITE_FIRST 4u

extern HT_HIDDEN struct site *site_table;
extern uint32_t site_count;               // ids in use: [SITE_FIRST, site_count)
extern HT_HIDDEN uint32_t site_inherited; // ids below are the parent's (fork): their blocks are roots, not ours

bool site_init(void);
// Finds or makes the site of a stack hash. `before` is the calling thread's last site: programs repeat themselves,
// so its successor of last time is tried first. `node_of` is asked for the node when the site is new.
site_id site_find(uint64_t hash, enum ht_kind kind, site_id before, node_id (*node_of)(void *context), void *context);
HT_INLINE struct site *site_at(site_id id) { return &site_table[id.value]; }
HT_INLINE bool site_is_inherited(site_id id) { return id.value < site_inherited; }
// In the fork child: forgets the lookup table, so that every site from now on is a new one.
void site_fork_child(void);
struct lock *site_lock(void);

#endif
