// Counters: per thread, folded when needed; totals and the exact peak.
//
// The peaks. A gauge (all memory; each kind) knows the highest total so far, `peak`. Every thread has a share of it,
// {live, bound}. While live <= bound everywhere and the bounds add up to at most `peak`, no new peak can happen and
// nobody looks further. An allocation that takes a thread over its bound goes the slow way, under one lock: it takes
// a part of the room that is left below the peak, or has all shares added up; when the sum is above the peak (or there
// was no leave to add up), totals are `rising`. The first free of any thread while they rise commits: the shares are
// added up before that free is counted, and the sum is the new peak. A maximum lies just before some free (or at the
// end), so no peak is missed and none is invented.
// Adding up freezes the bounds first and makes every thread notice (membarrier), so that a share that was read cannot
// grow unseen. With several threads that costs some microseconds; more than BURST and a 64th of the run is not spent
// on it, commits are put off then and counted in count_skipped_commits, which the report turns into a note.
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
  uint32_t site; // 0: empty
  uint32_t epoch;
  uint32_t allocations, frees, temporaries;
  int32_t peak_blocks_saved;
  uint64_t allocated_bytes, freed_bytes;
  int64_t peak_bytes_saved;
};
#define COUNT_ENTRIES 128u // power of two; a direct-mapped cache, 6 KiB a thread

#define SIZE_CLASSES 48 // powers of two from 8 up
struct size_count {
  uint64_t allocations, bytes;
};

// What a thread did with one kind. As few words as the totals can be told from, since each call adds to some.
struct kind_tally {
  uint64_t frees[2]; // [1]: of temporaries
  struct size_count sizes[SIZE_CLASSES];
};

// Totals of a kind.
struct kind_count {
  uint64_t allocations, frees, temporaries, allocated_bytes;
};

// A thread's counters. Only the thread itself writes them (but for bounds, under LOCK_RANK_PEAK).
struct count {
  struct gauge_share shares[GAUGE_COUNT];
  struct kind_tally kinds[HT_KIND_COUNT];
  struct count_entry entries[COUNT_ENTRIES];
};

struct gauge {
  int64_t peak_bytes;
  int64_t bounds_bytes; // the sum of all bounds; at most peak_bytes while nothing rises
  uint64_t peak_tsc;    // of the commit
};
extern struct gauge gauge_table[GAUGE_COUNT];
extern HT_HIDDEN int gauges_rising; // read without the lock by every free
extern HT_HIDDEN uint32_t count_epoch;
extern uint64_t count_skipped_commits;
extern HT_HIDDEN bool count_many_threads; // per-thread deltas are in use; thread.c sets it before a second thread runs

void count_init(void);
void gauges_over_bound(struct count *count, int kind);
void gauges_commit(struct count *count);
void count_entry_evict(struct count_entry *entry, uint32_t site);

HT_INLINE int size_class(size_t size_bytes) { return size_bytes <= 8 ? 0 : 61 - __builtin_clzll(size_bytes - 1); }

HT_INLINE void gauges_add(struct count *count, int kind, size_t size_bytes) {
  struct gauge_share *share = &count->shares[kind], *all = &count->shares[GAUGE_ALL];
  share->live_bytes += (int64_t)size_bytes;
  all->live_bytes += (int64_t)size_bytes;
  __asm__ volatile("" ::: "memory"); // first written, then compared: gauges_commit relies on it
  if (unlikely((share->live_bytes > share->bound_bytes) | (all->live_bytes > all->bound_bytes)))
    gauges_over_bound(count, kind);
}

HT_INLINE void gauges_subtract(struct count *count, int kind, size_t size_bytes) {
  if (unlikely(__atomic_load_n(&gauges_rising, __ATOMIC_RELAXED))) gauges_commit(count);
  count->shares[kind].live_bytes -= (int64_t)size_bytes;
  count->shares[GAUGE_ALL].live_bytes -= (int64_t)size_bytes;
}

// Totals, sizes and peaks, for front ends that count sites themselves.
HT_INLINE void count_alloc_totals(struct count *count, enum ht_kind kind, size_t size_bytes) {
  struct size_count *sizes = &count->kinds[kind].sizes[size_class(size_bytes)];
  sizes->allocations++;
  sizes->bytes += size_bytes;
  gauges_add(count, (int)kind, size_bytes);
}

// Part of a block is given back; the block lives on (a mapping that shrinks).
HT_INLINE void count_shrink_totals(struct count *count, enum ht_kind kind, size_t size_bytes) {
  gauges_subtract(count, (int)kind, size_bytes);
}

// The part of a free that must come before the site's counter is touched (the commit starts a new epoch).
HT_INLINE void count_free_totals(struct count *count, enum ht_kind kind, size_t size_bytes, bool temporary) {
  count->kinds[kind].frees[temporary]++;
  gauges_subtract(count, (int)kind, size_bytes);
}

// What the site held before the first change in this epoch is what it held at the peak.
HT_INLINE void site_touch(struct site *site) {
  uint32_t epoch = __atomic_load_n(&count_epoch, __ATOMIC_RELAXED);
  if (likely(site->epoch == epoch)) return;
  site->peak_bytes_saved = site->allocated_bytes - site->freed_bytes;
  site->peak_blocks_saved = (uint32_t)(site->allocations - site->frees);
  site->epoch = epoch;
}

HT_INLINE struct count_entry *count_entry_of(struct count *count, site_id site) {
  struct count_entry *entry = &count->entries[site.value & (COUNT_ENTRIES - 1)];
  if (unlikely(entry->site != site.value)) count_entry_evict(entry, site.value);
  uint32_t epoch = __atomic_load_n(&count_epoch, __ATOMIC_RELAXED);
  if (unlikely(entry->epoch != epoch)) {
    entry->peak_bytes_saved = (int64_t)(entry->allocated_bytes - entry->freed_bytes);
    entry->peak_blocks_saved = (int32_t)(entry->allocations - entry->frees);
    entry->epoch = epoch;
  }
  return entry;
}

// One allocation or free of `size_bytes` at `site`. Inside a hook of the thread that `count` belongs to.
HT_INLINE void count_alloc(struct count *count, site_id site, enum ht_kind kind, size_t size_bytes) {
  if (unlikely(count_many_threads)) {
    struct count_entry *entry = count_entry_of(count, site);
    entry->allocations++;
    entry->allocated_bytes += size_bytes;
  } else {
    struct site *counters = site_at(site);
    site_touch(counters);
    counters->allocations++;
    counters->allocated_bytes += size_bytes;
  }
  count_alloc_totals(count, kind, size_bytes);
}

HT_INLINE void count_free(struct count *count, site_id site, enum ht_kind kind, size_t size_bytes, bool temporary) {
  count_free_totals(count, kind, size_bytes, temporary);
  if (unlikely(count_many_threads)) {
    struct count_entry *entry = count_entry_of(count, site);
    entry->frees++;
    entry->freed_bytes += size_bytes;
    entry->temporaries += temporary;
    return;
  }
  struct site *counters = site_at(site);
  site_touch(counters);
  counters->frees++;
  counters->freed_bytes += size_bytes;
  counters->temporaries += temporary;
}

HT_INLINE void count_shrink(struct count *count, site_id site, enum ht_kind kind, size_t size_bytes) {
  count_shrink_totals(count, kind, size_bytes);
  if (count_many_threads) {
    count_entry_of(count, site)->freed_bytes += size_bytes;
  } else {
    site_touch(site_at(site));
    site_at(site)->freed_bytes += size_bytes;
  }
}

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
// Live bytes of the sites [0, count) without folding (racy by a call or two; for the timeline).
void count_sites_live(int64_t *live_bytes, uint32_t count);
// Adds what a front end counts by itself (pyhooks); set once, NULL: none.
extern void (*count_live_source)(int64_t *live_bytes, uint32_t count);
// Totals of a kind over all threads, living and gone.
struct kind_count count_kind_total(enum ht_kind kind);
struct size_count count_size_total(int size_class);
// In the fork child: everything so far is the parent's.
void count_fork_child(void);
struct lock *count_lock(void);

#endif
