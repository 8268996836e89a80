#include "count.h"

#include <linux/membarrier.h>
#include <x86intrin.h>

#include "lock.h"
#include "sys.h"
#include "thread.h"

struct gauge gauge_table[GAUGE_COUNT];
int gauges_rising;
uint32_t count_epoch = 1;
uint64_t count_skipped_commits;
bool count_many_threads;
static struct lock peak_lock = LOCK_INIT(LOCK_RANK_PEAK); // guards gauges, all bounds and what follows
static bool have_membarrier;
static uint64_t start_tsc, spent_tsc; // on adding up with several threads

// While totals rise a thread may grow by this much before it comes here again. Costs no exactness: the next free of
// any thread has the shares added up first.
#define RISING_BYTES 65536
// What a thread takes of the room below the peak beyond its need, at most.
#define ROOM_BYTES 65536
// Time that may be spent on adding up shares: this many cycles (some ten milliseconds) and a 64th of the run.
#define BURST_TSC (1ull << 26)

struct lock *count_lock(void) {
  return &peak_lock;
}

void count_init(void) {
  start_tsc = __rdtsc();
  have_membarrier = sys_call3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

// ---- the peaks

struct sum {
  int gauge;
  int64_t live_bytes;
};

static int64_t share_live(const struct gauge_share *share) {
  return __atomic_load_n(&share->live_bytes, __ATOMIC_RELAXED);
}

static void sum_share(struct thread *thread, void *context) {
  struct sum *sum = context;
  sum->live_bytes += share_live(&thread->count.shares[sum->gauge]);
}

int64_t count_live(int gauge) {
  struct sum sum = {gauge, 0};
  thread_each(sum_share, &sum);
  return sum.live_bytes;
}

static void freeze(struct thread *thread, void *unused) {
  (void)unused;
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++)
    __atomic_store_n(&thread->count.shares[gauge].bound_bytes, INT64_MIN, __ATOMIC_RELAXED);
}

static void sum_all(struct thread *thread, void *context) {
  int64_t *sums = context;
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++) sums[gauge] += share_live(&thread->count.shares[gauge]);
  sums[GAUGE_COUNT]++;
}

// Every thread may use its part of the room; negative shares too, or a sum of bounds would not be at most the peak.
static void bounds_set(struct thread *thread, void *context) {
  const int64_t *room = context;
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++) {
    struct gauge_share *share = &thread->count.shares[gauge];
    int64_t bound_bytes = share_live(share) + room[gauge];
    __atomic_store_n(&share->bound_bytes, bound_bytes, __ATOMIC_RELAXED);
    gauge_table[gauge].bounds_bytes += bound_bytes;
  }
}

// Adds up all shares at one moment and notes new peaks. While the bounds are frozen no share can grow; one that
// shrinks meanwhile was being freed all along.
static void add_up_locked(void) {
  int64_t sums[GAUGE_COUNT + 1] = {0}, room[GAUGE_COUNT];
  if (count_many_threads) {
    thread_each(freeze, NULL);
    if (have_membarrier) sys_call3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
  thread_each(sum_all, sums);
  if (!sums[GAUGE_COUNT]) return; // nobody has allocated yet
  uint64_t now = __rdtsc();
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++) {
    struct gauge *peak = &gauge_table[gauge];
    if (sums[gauge] > peak->peak_bytes) {
      peak->peak_bytes = sums[gauge];
      peak->peak_tsc = now;
      if (gauge == GAUGE_ALL) __atomic_add_fetch(&count_epoch, 1, __ATOMIC_RELAXED);
    }
    room[gauge] = (peak->peak_bytes - sums[gauge]) / sums[GAUGE_COUNT];
    peak->bounds_bytes = 0;
  }
  thread_each(bounds_set, room);
}

static bool leave_to_add_up(void) { return spent_tsc < BURST_TSC + (__rdtsc() - start_tsc) / 64; }

static bool room_take(struct count *count, int index) {
  struct gauge *gauge = &gauge_table[index];
  struct gauge_share *share = &count->shares[index];
  int64_t need = share->live_bytes - share->bound_bytes, room = gauge->peak_bytes - gauge->bounds_bytes;
  if (need <= 0) return true;
  if (need > room) return false;
  int64_t extra = (room - need) / 4;
  int64_t taken = need + (extra < ROOM_BYTES ? extra : ROOM_BYTES);
  share->bound_bytes += taken;
  gauge->bounds_bytes += taken;
  return true;
}

static void share_rise(struct count *count, int index) {
  struct gauge_share *share = &count->shares[index];
  share->bound_bytes = count_many_threads ? share->live_bytes + RISING_BYTES : INT64_MAX;
}

static void rise_locked(struct count *count, int kind) {
  share_rise(count, kind);
  share_rise(count, GAUGE_ALL);
  __atomic_store_n(&gauges_rising, 1, __ATOMIC_SEQ_CST);
}

static bool would_rise(const struct count *count, int index) {
  return count->shares[index].live_bytes > count->shares[index].bound_bytes;
}

// With room below the peaks for this thread after all shares were looked at, nothing rises.
static bool room_find_locked(struct count *count, int kind) {
  if (room_take(count, kind) && room_take(count, GAUGE_ALL)) return true;
  if (!leave_to_add_up()) return false;
  uint64_t before = __rdtsc();
  int64_t heights[2] = {gauge_table[kind].peak_bytes, gauge_table[GAUGE_ALL].peak_bytes};
  add_up_locked();
  spent_tsc += __rdtsc() - before;
  bool rose = gauge_table[kind].peak_bytes > heights[0] || gauge_table[GAUGE_ALL].peak_bytes > heights[1];
  return !rose && !would_rise(count, kind) && !would_rise(count, GAUGE_ALL);
}

// ---- the same with one thread, many times a second in a program that grows: its share is the sum, and nobody else
// looks at the gauges

static void commit_alone(struct count *count) {
  gauges_rising = 0;
  for (int index = 0; index < GAUGE_COUNT; index++) {
    struct gauge_share *share = &count->shares[index];
    struct gauge *gauge = &gauge_table[index];
    if (share->live_bytes > gauge->peak_bytes) {
      gauge->peak_bytes = share->live_bytes;
      if (index == GAUGE_ALL) gauge->peak_tsc = __rdtsc(), count_epoch++;
    }
    share->bound_bytes = gauge->bounds_bytes = gauge->peak_bytes;
  }
}

HT_NOINLINE void gauges_over_bound(struct count *count, int kind) {
  if (likely(!count_many_threads)) {
    share_rise(count, kind);
    share_rise(count, GAUGE_ALL);
    gauges_rising = 1;
    return;
  }
  lock_take(&peak_lock);
  if (gauges_rising || !room_find_locked(count, kind)) rise_locked(count, kind);
  lock_drop(&peak_lock);
}

HT_NOINLINE void gauges_commit(struct count *count) {
  if (likely(!count_many_threads)) return commit_alone(count);
  if (!leave_to_add_up()) {
    count_skipped_commits++; // racy, and only ever asked whether it is 0
    return;
  }
  lock_take(&peak_lock);
  uint64_t before = __rdtsc();
  __atomic_store_n(&gauges_rising, 0, __ATOMIC_RELAXED);
  add_up_locked();
  spent_tsc += __rdtsc() - before;
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
  lock_take(&peak_lock);
  add_up_locked();
  lock_drop(&peak_lock);
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

void (*count_live_source)(int64_t *live_bytes, uint32_t count);

void count_sites_live(int64_t *live_bytes, uint32_t count) {
  for (uint32_t id = 0; id < count; id++)
    live_bytes[id] = (int64_t)(site_table[id].allocated_bytes - site_table[id].freed_bytes);
  struct live_table table = {live_bytes, count};
  if (count_many_threads) thread_each(add_deltas, &table);
  if (count_live_source) count_live_source(live_bytes, count);
}

// ---- totals

struct kind_sum {
  enum ht_kind kind;
  struct kind_count total;
};

static void sum_kind(struct thread *thread, void *context) {
  struct kind_sum *sum = context;
  const struct kind_tally *tally = &thread->count.kinds[sum->kind];
  for (int class = 0; class < SIZE_CLASSES; class ++) {
    sum->total.allocations += tally->sizes[class].allocations;
    sum->total.allocated_bytes += tally->sizes[class].bytes;
  }
  sum->total.frees += tally->frees[0] + tally->frees[1];
  sum->total.temporaries += tally->frees[1];
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
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) {
    sum->total.allocations += thread->count.kinds[kind].sizes[sum->class].allocations;
    sum->total.bytes += thread->count.kinds[kind].sizes[sum->class].bytes;
  }
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
  gauges_rising = 0;
  count_epoch++;
  count_init();
}
