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
// grow unseen. That costs 1,000 cycles or so, but 40,000 between the CPUs of a virtual machine. So a commit is at first
// one in passing: totals are left rising, every free commits, and nobody needs to notice (look_in_passing_locked).
// More than BURST and a 64th of the run is spent on neither, commits are put off then, and what that may have cost is
// kept: count_peak_missed_bytes. A thread that was refused asks again at its next look at the clock.
// A thread that adds up several times with nobody else in between (under Python's GIL most do) becomes the owner: the
// others get no room, so that each of their calls comes here and ends the ownership first, and the owner may add up
// without making anybody notice.
// When the peak was reached is not when it was committed, which may be an age later. What is known without a clock on
// every call: when totals were first seen rising, and how much a thread had at its looks at the clock (sampler.h).
// What sites held at the peak: a commit starts a new epoch; whoever updates a counter first in an epoch saves what
// it held before.
#ifndef HT_COUNT_H
#define HT_COUNT_H

#include "site_counters.h"
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

// A thread's counters. Only the thread itself writes them (but for bounds and `quiet`, under LOCK_RANK_PEAK).
struct count {
  int quiet;                  // the gauges_state in which its frees need not come here
  uint64_t front_allocations; // of those that a front end tallies by itself
  int64_t seen_bytes;         // live at the thread's last look at the clock
  uint64_t seen_ns;           // when that was, sys_tick_ns
  uint64_t rose_ns;           // of the last look before a rise that later looks have seen
  struct gauge_share shares[GAUGE_COUNT];
  struct kind_tally kinds[HT_KIND_COUNT];
  struct count_entry entries[COUNT_ENTRIES];
};

struct gauge {
  int64_t peak_bytes;
  int64_t bounds_bytes; // the sum of all bounds; at most peak_bytes while nothing rises
};
extern struct gauge gauge_table[GAUGE_COUNT];
enum { GAUGES_QUIET, GAUGES_RISING, GAUGES_OWNED };
extern uint64_t count_peak_ns; // when GAUGE_ALL's peak was reached, sys_tick_ns; early by at most one sampling budget
// By how much the peak (of all, or of a kind) may be too low at most; 0: it is exact, or within a percent.
uint64_t count_peak_missed_bytes(void);

// What every call reads, without the lock: a cache line of its own, so that nobody's writing beside it is in the way.
struct count_shared {
  _Alignas(64) int gauges_state; // GAUGES_*
  uint32_t epoch;
  bool many_threads; // per-thread deltas are in use; thread.c sets it before a second thread runs
};
extern HT_HIDDEN struct count_shared count_shared;

// Read once by who asks twice: a thread of a bare clone() sets it beside calls that are under way.
HT_INLINE bool count_many_threads(void) { return __atomic_load_n(&count_shared.many_threads, __ATOMIC_RELAXED); }

void count_init(void);
void gauges_over_bound(struct count *count, int kind);
void gauges_commit(struct count *count);
// For the sampler: totals that rose while commits were put off are added up, so that no sample is above the peak.
void gauges_catch_up(void);
void count_entry_evict(struct count_entry *entry, uint32_t site);

// The thread looks at the clock, before what it is about to do is counted.
HT_INLINE void count_look(struct count *count, uint64_t now_ns) {
  if (unlikely(count->quiet == GAUGES_RISING)) count->quiet = GAUGES_QUIET; // asks for leave to commit once more
  int64_t live_bytes = count->shares[GAUGE_ALL].live_bytes;
  if (live_bytes > count->seen_bytes) __atomic_store_n(&count->rose_ns, count->seen_ns, __ATOMIC_RELAXED);
  __atomic_store_n(&count->seen_bytes, live_bytes, __ATOMIC_RELAXED);
  __atomic_store_n(&count->seen_ns, now_ns, __ATOMIC_RELAXED);
}

HT_INLINE int size_class(size_t size_bytes) { return size_bytes <= 8 ? 0 : 61 - __builtin_clzll(size_bytes - 1); }

// True: the caller goes on to gauges_over_bound.
HT_INLINE bool gauges_add_within(struct count *count, int kind, size_t size_bytes) {
  struct gauge_share *share = &count->shares[kind], *all = &count->shares[GAUGE_ALL];
  share->live_bytes += (int64_t)size_bytes;
  all->live_bytes += (int64_t)size_bytes;
  __asm__ volatile("" ::: "memory"); // first written, then compared: gauges_commit relies on it
  return (share->live_bytes > share->bound_bytes) | (all->live_bytes > all->bound_bytes);
}

HT_INLINE void gauges_add(struct count *count, int kind, size_t size_bytes) {
  if (unlikely(gauges_add_within(count, kind, size_bytes))) gauges_over_bound(count, kind);
}

// Whether a free comes to gauges_commit first.
HT_INLINE bool count_must_commit(const struct count *count) {
  return __atomic_load_n(&count_shared.gauges_state, __ATOMIC_RELAXED) != count->quiet;
}

HT_INLINE void gauges_subtract_calmly(struct count *count, int kind, size_t size_bytes) {
  count->shares[kind].live_bytes -= (int64_t)size_bytes;
  count->shares[GAUGE_ALL].live_bytes -= (int64_t)size_bytes;
}

HT_INLINE void gauges_subtract(struct count *count, int kind, size_t size_bytes) {
  if (unlikely(count_must_commit(count))) gauges_commit(count);
  gauges_subtract_calmly(count, kind, size_bytes);
}

// Peaks alone, for front ends that count and tally by themselves (count_tally_source).
// They free by count_must_commit and gauges_subtract_calmly, the first before they touch what they counted for the
// block: the commit starts a new epoch. True: the caller goes on to gauges_over_bound.
HT_INLINE bool count_front_alloc_within(struct count *count, enum ht_kind kind, size_t size_bytes) {
  count->front_allocations++;
  return gauges_add_within(count, (int)kind, size_bytes);
}

HT_INLINE void count_size(struct count *count, enum ht_kind kind, size_t size_bytes) {
  struct size_count *sizes = &count->kinds[kind].sizes[size_class(size_bytes)];
  sizes->allocations++;
  sizes->bytes += size_bytes;
}

// Totals, sizes and peaks.
HT_INLINE void count_alloc_totals(struct count *count, enum ht_kind kind, size_t size_bytes) {
  count_size(count, kind, size_bytes);
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
  uint32_t epoch = __atomic_load_n(&count_shared.epoch, __ATOMIC_RELAXED);
  if (likely(site->epoch == epoch)) return;
  site->peak = site->allocated - site->freed;
  site->epoch = epoch;
}

// What needs more than an addition to one word: large blocks, a word that is full then.
void count_site_change(struct site *site, const struct site_change *change);
void count_site_alloc_long(struct site *site, size_t size_bytes);
void count_site_free_long(struct site *site, size_t size_bytes, bool temporary);

// Whether the entry is the site's and has room for one more call.
HT_INLINE bool count_entry_is(const struct count_entry *entry, site_id site) {
  return (entry->site == site.value) & !((entry->allocations | entry->frees) >> 31); // temporaries are frees
}

HT_INLINE void count_entry_touch(struct count_entry *entry) {
  uint32_t epoch = __atomic_load_n(&count_shared.epoch, __ATOMIC_RELAXED);
  if (likely(entry->epoch == epoch)) return;
  entry->peak_bytes_saved = (int64_t)(entry->allocated_bytes - entry->freed_bytes);
  entry->peak_blocks_saved = (int32_t)(entry->allocations - entry->frees);
  entry->epoch = epoch;
}

// The thread's entry that may be the site's.
HT_INLINE struct count_entry *count_entry_at(struct count *count, site_id site) {
  return &count->entries[site.value & (COUNT_ENTRIES - 1)];
}

HT_INLINE struct count_entry *count_entry_of(struct count *count, site_id site) {
  struct count_entry *entry = count_entry_at(count, site);
  if (unlikely(!count_entry_is(entry, site))) count_entry_evict(entry, site.value);
  count_entry_touch(entry);
  return entry;
}

HT_INLINE void count_entry_alloc(struct count_entry *entry, size_t size_bytes) {
  entry->allocations++;
  entry->allocated_bytes += size_bytes;
}

HT_INLINE void count_entry_free(struct count_entry *entry, size_t size_bytes, bool temporary) {
  entry->frees++;
  entry->freed_bytes += size_bytes;
  entry->temporaries += temporary;
}

// With one thread.
HT_INLINE void count_site_alloc_alone(struct site *site, size_t size_bytes) {
  if (unlikely(!site_word_has_room(site->allocated, size_bytes))) return count_site_alloc_long(site, size_bytes);
  site_touch(site);
  site->allocated += SITE_CALL + (uint32_t)size_bytes;
}

HT_INLINE void count_site_free_alone(struct site *site, size_t size_bytes, bool temporary) {
  if (unlikely(!site_word_has_room(site->freed, size_bytes))) return count_site_free_long(site, size_bytes, temporary);
  site_touch(site);
  site->freed += SITE_CALL + (uint32_t)size_bytes;
  site->temporaries += temporary;
}

HT_INLINE void count_site_alloc(struct count *count, site_id site, size_t size_bytes) {
  if (unlikely(count_many_threads()))
    count_entry_alloc(count_entry_of(count, site), size_bytes);
  else
    count_site_alloc_alone(site_at(site), size_bytes);
}

HT_INLINE void count_site_free(struct count *count, site_id site, size_t size_bytes, bool temporary) {
  if (unlikely(count_many_threads()))
    count_entry_free(count_entry_of(count, site), size_bytes, temporary);
  else
    count_site_free_alone(site_at(site), size_bytes, temporary);
}

// One allocation or free of `size_bytes` at `site`. Inside a hook of the thread that `count` belongs to.
HT_INLINE void count_alloc(struct count *count, site_id site, enum ht_kind kind, size_t size_bytes) {
  count_site_alloc(count, site, size_bytes);
  count_alloc_totals(count, kind, size_bytes);
}

HT_INLINE void count_free(struct count *count, site_id site, enum ht_kind kind, size_t size_bytes, bool temporary) {
  count_free_totals(count, kind, size_bytes, temporary);
  count_site_free(count, site, size_bytes, temporary);
}

// The same of `copies` blocks at once.
void count_alloc_many(struct count *count, site_id site, enum ht_kind kind, size_t size_bytes, uint32_t copies);
void count_free_many(struct count *count, site_id site, enum ht_kind kind, size_t size_bytes, bool temporary,
                     uint32_t copies);

// A piece of a block that is counted already: the bytes move from the block's site to the piece's and back, no total of
// live bytes changes, so that a piece can make no peak.
HT_INLINE void count_lend(struct count *count, site_id site, int64_t bytes) {
  if (unlikely(count_many_threads()))
    count_entry_of(count, site)->freed_bytes += (uint64_t)bytes;
  else
    count_site_change(site_at(site), &(struct site_change){.freed_bytes = (uint64_t)bytes});
}

HT_INLINE void count_piece_alloc(struct count *count, site_id site, enum ht_kind kind, size_t size_bytes) {
  count_size(count, kind, size_bytes);
  count_site_alloc(count, site, size_bytes);
}

HT_INLINE void count_piece_free(struct count *count, site_id site, enum ht_kind kind, size_t size_bytes,
                                bool temporary) {
  if (unlikely(count_must_commit(count))) gauges_commit(count); // who held it at the peak
  count->kinds[kind].frees[temporary]++;
  count_site_free(count, site, size_bytes, temporary);
}

HT_INLINE void count_shrink(struct count *count, site_id site, enum ht_kind kind, size_t size_bytes) {
  count_shrink_totals(count, kind, size_bytes);
  if (count_many_threads())
    count_entry_of(count, site)->freed_bytes += size_bytes;
  else
    count_site_change(site_at(site), &(struct site_change){.freed_bytes = size_bytes});
}

// ---- reading, at report or sampling time

// Live bytes of a kind, or GAUGE_ALL: the sum of the shares now.
int64_t count_live(int gauge);
// When live bytes last rose in any thread, sys_tick_ns (as count_peak_ns); while they rise.
uint64_t count_rise_ns(void);
struct site_figures {
  uint64_t allocations, frees, temporaries, allocated_bytes;
  uint64_t live_bytes, live_blocks, peak_bytes, peak_blocks;
};
// Folds every thread's deltas into the sites and commits open peaks. The world is parked, or one thread is left.
void count_settle(void);
// A site's figures after count_settle.
void count_site_figures(site_id site, struct site_figures *figures);
// Figures of the sites [0, count) as they stand, without folding anything and while threads run (racy by a call or
// two). `live_bytes` is scratch memory of as many entries. While totals rise above every peak so far, now is the peak.
void count_sites_now(struct site_figures *figures, int64_t *live_bytes, uint32_t count);
// With one thread, and no front end that counts by itself, nothing changes while it looks: the same of one site.
bool count_stands_still(void);
bool count_is_rising(void);
void count_site_now(site_id site, bool is_rising, struct site_figures *figures);
// Live bytes of the sites [first, first + count) without folding (racy by a call or two; for the timeline).
void count_sites_live(int64_t *live_bytes, uint32_t first, uint32_t count);
// Adds what a front end counts by itself (pyhooks); set once, NULL: none.
extern void (*count_live_source)(int64_t *live_bytes, uint32_t first, uint32_t count);
// Adds what a front end tallied of a kind (pyhooks); set once, NULL: none.
extern void (*count_tally_source)(enum ht_kind kind, struct kind_tally *tally);
// Totals of a kind over all threads, living and gone.
struct kind_count count_kind_total(enum ht_kind kind);
// Totals of all size classes.
void count_size_totals(struct size_count sizes[SIZE_CLASSES]);
// In the fork child: everything so far is the parent's.
void count_fork_child(void);
struct lock *count_lock(void);

#endif
