// Counters: per thread, folded when needed; totals and the exact peak.
//
// The peak. Each gauge (all memory; each kind) has the highest total seen so far, `peak`. Every thread has a share
// {live, bound}; while live <= bound in all threads and the bounds add up to at most `peak`, no new peak can happen
// and nobody looks further. An allocation that takes a thread over its bound goes the slow way: under one lock the
// shares are added up; below the peak the thread gets a part of the room that is left as its new bound; above it
// the gauge is `open`: the total is rising. The first free of any thread while a gauge is open commits: the shares
// are added up once more, before that free is counted, and the sum is the new peak. A maximum always lies just
// before some free (or at the end), so no peak is missed and none is invented.
// What sites held at the peak: a commit starts a new epoch; whoever updates a counter first in an epoch saves what
// it held before.
#ifndef HT_COUNT_H
#define HT_COUNT_H

#include "site.h"
#include "words.h"

#define GAUGE_ALL HT_KIND_COUNT // the gauge over all kinds
#define GAUGE_COUNT (HT_KIND_COUNT + 1)

struct gauge_share {
  int64_t live_bytes; // allocated - freed by this thread, may be negative
  int64_t bound_bytes;
};

// Per-thread deltas of one site (with several threads only).
struct count_entry {
  uint32_t site;
  uint32_t epoch;
  uint32_t allocations, frees, temporaries;
  int32_t peak_blocks_saved;
  uint64_t allocated_bytes, freed_bytes;
  int64_t peak_bytes_saved;
};
#define COUNT_ENTRIES 128 // power of two; a direct-mapped cache, 6 KiB a thread

#define SIZE_CLASSES 48 // powers of two from 8 up
struct size_count {
  uint64_t allocations, bytes;
};

struct kind_count {
  uint64_t allocations, frees, temporaries, allocated_bytes, freed_bytes;
};

struct count {
  struct gauge_share shares[GAUGE_COUNT];
  struct kind_count kinds[HT_KIND_COUNT];
  struct size_count sizes[SIZE_CLASSES];
  struct count_entry entries[COUNT_ENTRIES];
};

struct gauge {
  int64_t peak_bytes;
  int64_t bounds_bytes; // the sum of all shares' bounds
  uint64_t peak_tsc;
  int open; // read without the lock by every free
};
extern struct gauge gauge_table[GAUGE_COUNT];
extern uint32_t count_epoch;

struct thread;
// One allocation or free of `size_bytes` at `site`. Inside a hook of `thread`.
void count_alloc(struct thread *thread, site_id site, enum ht_kind kind, size_t size_bytes);
void count_free(struct thread *thread, site_id site, enum ht_kind kind, size_t size_bytes, bool temporary);
// For front ends that keep their own per-site counters (pyhooks): totals, sizes and peaks only.
void count_alloc_totals(struct thread *thread, enum ht_kind kind, size_t size_bytes);
void count_free_totals(struct thread *thread, enum ht_kind kind, size_t size_bytes);

// ---- reading, at report or sampling time

// Live bytes of a kind, or GAUGE_ALL: the sum of the shares now.
int64_t count_live(int gauge);
struct site_figures {
  uint64_t allocations, frees, temporaries, allocated_bytes;
  uint64_t live_bytes, live_blocks, peak_bytes, peak_blocks;
};
// Folds every thread's deltas into the sites and commits open peaks. The world is parked, or one thread is left.
void count_settle(void);
// A site's figures after count_settle.
void count_site_figures(site_id site, struct site_figures *figures);
// Live bytes of one site without folding (racy by a call or two; for the timeline).
int64_t count_site_live(site_id site);
void count_fork_child(void);
struct lock *count_lock(void);

#endif
