#include "count.h"

#include <x86intrin.h>

#include "lock.h"
#include "thread.h"

struct gauge gauge_table[GAUGE_COUNT];
uint32_t count_epoch = 1;
bool count_many_threads;
static struct lock peak_lock = LOCK_INIT(LOCK_RANK_PEAK); // guards gauges and all bounds

// While a total is rising a thread may grow by this much before it comes here again. Costs no exactness: the next
// free of any thread adds up the shares first.
#define RISING_BYTES 65536
// What a thread takes of the room below the peak beyond its need, at most.
#define ROOM_BYTES 65536

struct lock *count_lock(void) { return &peak_lock; }

// ---- the peak

struct sum {
  int gauge;
  int64_t live_bytes;
};

static void sum_share(struct thread *thread, void *context) {
  struct sum *sum = context;
  sum->live_bytes += __atomic_load_n(&thread->count.shares[sum->gauge].live_bytes, __ATOMIC_RELAXED);
}

int64_t count_live(int gauge) {
  struct sum sum = {gauge, 0};
  thread_each(sum_share, &sum);
  return sum.live_bytes;
}

// Sets a thread's bound to what it holds, so that its next growth is looked at.
static void tighten_share(struct thread *thread, void *context) {
  struct sum *sum = context;
  struct gauge_share *share = &thread->count.shares[sum->gauge];
  int64_t live_bytes = __atomic_load_n(&share->live_bytes, __ATOMIC_RELAXED);
  __atomic_store_n(&share->bound_bytes, live_bytes, __ATOMIC_RELAXED);
  sum->live_bytes += live_bytes;
}

static int64_t tighten_locked(int gauge) {
  struct sum sum = {gauge, 0};
  thread_each(tighten_share, &sum);
  return gauge_table[gauge].bounds_bytes = sum.live_bytes;
}

// Takes back half of what other threads have in hand but do not use.
static void halve_share(struct thread *thread, void *context) {
  struct sum *sum = context;
  struct gauge_share *share = &thread->count.shares[sum->gauge];
  int64_t live_bytes = __atomic_load_n(&share->live_bytes, __ATOMIC_RELAXED);
  int64_t spare = share->bound_bytes - live_bytes;
  __atomic_store_n(&share->bound_bytes, live_bytes + (spare > 64 ? spare / 2 : 0), __ATOMIC_RELAXED);
  sum->live_bytes += share->bound_bytes;
}

static bool room_take_locked(struct count *count, int index) {
  struct gauge *gauge = &gauge_table[index];
  struct gauge_share *share = &count->shares[index];
  int64_t need = share->live_bytes - share->bound_bytes, room = gauge->peak_bytes - gauge->bounds_bytes;
  if (need > room) return false;
  int64_t extra = (room - need) / 4;
  share->bound_bytes += need + (extra < ROOM_BYTES ? extra : ROOM_BYTES);
  gauge->bounds_bytes += need + (extra < ROOM_BYTES ? extra : ROOM_BYTES);
  return true;
}

static void rise_locked(struct count *count, int index) {
  __atomic_store_n(&gauge_table[index].open, 1, __ATOMIC_RELAXED);
  int64_t live_bytes = count->shares[index].live_bytes;
  count->shares[index].bound_bytes = count_many_threads ? live_bytes + RISING_BYTES : INT64_MAX;
}

HT_NOINLINE void gauge_over_bound(struct count *count, int index) {
  lock_take(&peak_lock);
  struct gauge *gauge = &gauge_table[index];
  if (gauge->open || !count_many_threads) {
    rise_locked(count, index);
  } else if (!room_take_locked(count, index)) {
    struct sum sum = {index, 0};
    thread_each(halve_share, &sum);
    gauge->bounds_bytes = sum.live_bytes;
    if (!room_take_locked(count, index) && tighten_locked(index) > gauge->peak_bytes) rise_locked(count, index);
  }
  lock_drop(&peak_lock);
}

HT_NOINLINE void gauge_commit(int index) {
  struct gauge *gauge = &gauge_table[index];
  lock_take(&peak_lock);
  int64_t live_bytes = tighten_locked(index);
  __atomic_store_n(&gauge->open, 0, __ATOMIC_RELAXED);
  if (live_bytes > gauge->peak_bytes) {
    gauge->peak_bytes = live_bytes;
    gauge->peak_tsc = __rdtsc();
    if (index == GAUGE_ALL) __atomic_add_fetch(&count_epoch, 1, __ATOMIC_RELAXED);
  }
  lock_drop(&peak_lock);
}

// ---- folding

static void site_lock_spin(struct site *site) {
  while (__atomic_exchange_n(&site->busy, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
}

// What `entry` held at the last peak moves into the site together with its deltas.
static void entry_fold(struct count_entry *entry) {
  struct site *site = &site_table[entry->site];
  uint32_t epoch = __atomic_load_n(&count_epoch, __ATOMIC_RELAXED);
  bool touched = entry->epoch == epoch;
  int64_t live_bytes = (int64_t)(entry->allocated_bytes - entry->freed_bytes);
  int32_t live_blocks = (int32_t)(entry->allocations - entry->frees);
  site_lock_spin(site);
  site_touch(site);
  site->peak_bytes_saved += (uint64_t)(touched ? entry->peak_bytes_saved : live_bytes);
  site->peak_blocks_saved += (uint32_t)(touched ? entry->peak_blocks_saved : live_blocks);
  site->allocations += entry->allocations;
  site->frees += entry->frees;
  site->temporaries += entry->temporaries;
  site->allocated_bytes += entry->allocated_bytes;
  site->freed_bytes += entry->freed_bytes;
  __atomic_store_n(&site->busy, 0, __ATOMIC_RELEASE);
}

HT_NOINLINE void count_entry_evict(struct count_entry *entry, uint32_t site) {
  if (entry->site) entry_fold(entry);
  *entry = (struct count_entry){.site = site, .epoch = count_epoch};
}

static void fold_thread(struct thread *thread, void *unused) {
  (void)unused;
  for (uint32_t i = 0; i < COUNT_ENTRIES; i++)
    if (thread->count.entries[i].site) count_entry_evict(&thread->count.entries[i], 0);
}

void count_settle(void) {
  thread_each(fold_thread, NULL);
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++) gauge_commit(gauge);
}

void count_site_figures(site_id id, struct site_figures *figures) {
  const struct site *site = site_at(id);
  bool touched = site->epoch == count_epoch;
  figures->allocations = site->allocations;
  figures->frees = site->frees;
  figures->temporaries = site->temporaries;
  figures->allocated_bytes = site->allocated_bytes;
  figures->live_bytes = site->allocated_bytes - site->freed_bytes;
  figures->live_blocks = site->allocations - site->frees;
  figures->peak_bytes = touched ? site->peak_bytes_saved : figures->live_bytes;
  figures->peak_blocks = touched ? site->peak_blocks_saved : figures->live_blocks;
}

struct live_table {
  int64_t *live_bytes;
  uint32_t count;
};

static void add_deltas(struct thread *thread, void *context) {
  struct live_table *table = context;
  for (uint32_t i = 0; i < COUNT_ENTRIES; i++) {
    const struct count_entry *entry = &thread->count.entries[i];
    if (entry->site && entry->site < table->count)
      table->live_bytes[entry->site] += (int64_t)(entry->allocated_bytes - entry->freed_bytes);
  }
}

void count_sites_live(int64_t *live_bytes, uint32_t count) {
  for (uint32_t id = 0; id < count; id++)
    live_bytes[id] = (int64_t)(site_table[id].allocated_bytes - site_table[id].freed_bytes);
  struct live_table table = {live_bytes, count};
  if (count_many_threads) thread_each(add_deltas, &table);
}

// ---- totals

struct kind_sum {
  enum ht_kind kind;
  struct kind_count total;
};

static void sum_kind(struct thread *thread, void *context) {
  struct kind_sum *sum = context;
  const struct kind_count *kind = &thread->count.kinds[sum->kind];
  sum->total.allocations += kind->allocations;
  sum->total.frees += kind->frees;
  sum->total.temporaries += kind->temporaries;
  sum->total.allocated_bytes += kind->allocated_bytes;
}

struct kind_count count_kind_total(enum ht_kind kind) {
  struct kind_sum sum = {.kind = kind};
  thread_each(sum_kind, &sum);
  return sum.total;
}

struct size_sum {
  int class;
  struct size_count total;
};

static void sum_size(struct thread *thread, void *context) {
  struct size_sum *sum = context;
  sum->total.allocations += thread->count.sizes[sum->class].allocations;
  sum->total.bytes += thread->count.sizes[sum->class].bytes;
}

struct size_count count_size_total(int class) {
  struct size_sum sum = {.class = class};
  thread_each(sum_size, &sum);
  return sum.total;
}

static void clear_thread(struct thread *thread, void *unused) {
  (void)unused;
  __builtin_memset(&thread->count, 0, sizeof thread->count);
}

void count_fork_child(void) {
  thread_each(clear_thread, NULL);
  __builtin_memset(gauge_table, 0, sizeof gauge_table);
  count_epoch++;
}
