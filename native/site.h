// Sites: one (stack, kind) each, with its counters. A site is never removed.
#ifndef HT_SITE_H
#define HT_SITE_H

#include "words.h"

// 32 bytes: half a million distinct stacks are nothing rare, and most of them count next to nothing (site_counters.h).
// Counters of a one-thread program are updated here at once; with several threads each keeps deltas (count.h) and folds
// them in under `busy`.
struct site {
  uint64_t hash;                // the stack's, with the kind
  uint32_t kind : 6;            // first: each free asks for it
  uint32_t node : NODE_ID_BITS; // of the innermost frame
  uint32_t epoch;               // the peak epoch of the last update
  uint32_t allocated, freed;    // calls and bytes since they were last carried
  uint32_t peak;                // allocated - freed before the first update of `epoch`, that is at the last peak
  uint16_t temporaries;         // among the calls in `freed`
  uint8_t busy;                 // spin bit: a fold is in progress
  uint8_t flags;                // HT_SITE_*, SITE_OF_START
};
_Static_assert(sizeof(struct site) == 32, "two sites in a cache line");

#define SITE_KIND 63u
#define SITE_OF_START 0x80u   // of a language's runtime while it starts: no leak of the program's; not written
#define LIVE_MAP_SITE_BITS 26 // what an entry of the live map has room for

// Sites without a stack of their own. A fork child gets new ones: its records are not the parent's.
enum site_reserved {
  SITE_SIGNAL,     // records made for a signal handler inside a hook
  SITE_SIGNAL_MAP, // the same for mappings
  SITE_OVERFLOW,   // with the kind added: everything of a kind once the table is full
  SITE_RESERVED_COUNT = SITE_OVERFLOW + HT_KIND_COUNT
};
#define SITE_FIRST (1u + SITE_RESERVED_COUNT)

extern HT_HIDDEN struct site *site_table;
extern uint32_t site_count;               // ids in use: [1, site_count)
extern HT_HIDDEN uint32_t site_inherited; // ids below are the parent's (fork): their blocks are roots, not ours
extern HT_HIDDEN uint32_t site_reserved_first;

bool site_init(void);
// The tables of sites reserve `share_bytes` each at most, where that leaves room for some more.
void site_shrink_locked(size_t share_bytes);
// Finds or makes the site of a stack hash. `before` is the calling thread's last site: programs repeat themselves,
// so its successor of last time is tried first. `node_of` is asked for the node when the site is new.
site_id site_find(uint64_t hash, enum ht_kind kind, site_id before, node_id (*node_of)(void *context), void *context);
// The same, but makes none: 0 when there is no such site.
site_id site_known(uint64_t hash, site_id before);
HT_INLINE struct site *site_at(site_id id) { return &site_table[id.value]; }
// `which`: of enum site_reserved.
HT_INLINE site_id site_reserved(uint32_t which) { return (site_id){site_reserved_first + which}; }
HT_INLINE bool site_is_inherited(site_id id) { return id.value < site_inherited; }
// In the fork child: forgets the lookup table, so that every site from now on is a new one, the reserved ones too.
void site_fork_child(void);
struct lock *site_lock(void);

#endif
