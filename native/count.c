#include "count.h"

#include <linux/membarrier.h>
#include <x86intrin.h>

#include "lock.h"
#include "sys.h"
#include "thread.h"

struct gauge gauge_table[GAUGE_COUNT];
struct count_shared count_shared = {.epoch = 1};
uint64_t count_peak_ns;
static struct lock peak_lock = LOCK_INIT(LOCK_RANK_PEAK); // guards gauges, all bounds and what follows
static uint64_t rise_seen_ns; // when an allocation last went the slow way, on its way to a peak
static bool have_membarrier;
static uint64_t start_tsc, spent_tsc; // on adding up with several threads
static struct count *owner;           // may add up alone; NULL: nobody
static struct count *last_adder;      // who added up last, how often running, and how long that took
static uint32_t adder_run;
static uint64_t adder_run_tsc;
static uint64_t thorough_tsc;  // what adding up took when threads last were made to notice
static uint64_t vain_tsc;      // spent on looks in passing since one found a new peak
static uint64_t commits_begun; // so that who waited for the lock knows of one that counted it in

// While totals rise a thread may grow by this much before it comes here again, for the time of the peak. Costs no
// exactness: the next free of any thread has the shares added up first.
#define RISING_BYTES 65536
// What a thread takes of the room below the peak beyond its need, at most.
#define ROOM_BYTES 65536
// Whoever added up this often with nobody else in between, or in passing for as long as that takes, becomes the owner.
#define OWNER_RUN 4
// Time that may be spent on adding up shares: this many cycles (some milliseconds) and a 64th of the run.
#define BURST_TSC (1ull << 24)
// Taken from a bound so that each allocation of the thread goes the slow way.
#define HELD_BYTES (INT64_C(1) << 62)
// More for one is not its own: the thread had to wait for a CPU.
#define ADD_UP_TSC_MOST (1ull << 16)
// A peak that may be missed by less than this part of it is as good as followed.
#define MISSED_SHARE 100

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

// Of the look before the thread's last rise: its last look when it has more now than it had then. Read while the thread
// may be at it.
static uint64_t rose_ns(const struct count *count) {
  int64_t live_bytes = share_live(&count->shares[GAUGE_ALL]);
  bool since = live_bytes > __atomic_load_n(&count->seen_bytes, __ATOMIC_RELAXED);
  return __atomic_load_n(since ? &count->seen_ns : &count->rose_ns, __ATOMIC_RELAXED);
}

static void rose_latest(struct thread *thread, void *context) {
  uint64_t *latest_ns = context, thread_ns = rose_ns(&thread->count);
  if (thread_ns > *latest_ns) *latest_ns = thread_ns;
}

uint64_t count_rise_ns(void) {
  uint64_t latest_ns = rise_seen_ns;
  if (owner && rose_ns(owner) > latest_ns) latest_ns = rose_ns(owner);
  if (!owner) thread_each(rose_latest, &latest_ns);
  return latest_ns;
}

static void freeze(struct thread *thread, void *unused) {
  (void)unused;
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++)
    __atomic_store_n(&thread->count.shares[gauge].bound_bytes, INT64_MIN, __ATOMIC_RELAXED);
}

struct sums {
  int64_t live_bytes[GAUGE_COUNT];
  int64_t threads;
};

static void sum_all(struct thread *thread, void *context) {
  struct sums *sums = context;
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++) sums->live_bytes[gauge] += share_live(&thread->count.shares[gauge]);
  sums->threads++;
}

// Every thread may use its part of the room, or the owner all of it; negative shares too, or a sum of bounds would not
// be at most the peak.
static void bounds_set(struct thread *thread, void *context) {
  const int64_t *room = context;
  bool has_room = !owner || owner == &thread->count;
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++) {
    struct gauge_share *share = &thread->count.shares[gauge];
    int64_t bound_bytes = share_live(share) + (has_room ? room[gauge] : 0);
    __atomic_store_n(&share->bound_bytes, bound_bytes, __ATOMIC_RELAXED);
    gauge_table[gauge].bounds_bytes += bound_bytes;
  }
}

static void freeze_all(void) {
  thread_each(freeze, NULL);
  if (have_membarrier) sys_call3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

static void hold(struct thread *thread, void *unused) {
  (void)unused;
  int64_t *bound_bytes = &thread->count.shares[GAUGE_ALL].bound_bytes;
  __atomic_store_n(bound_bytes, *bound_bytes - HELD_BYTES, __ATOMIC_RELAXED);
}

// But for a thread that has come since.
static void let_go(struct thread *thread, void *unused) {
  (void)unused;
  int64_t *bound_bytes = &thread->count.shares[GAUGE_ALL].bound_bytes;
  if (*bound_bytes < -HELD_BYTES / 2) __atomic_store_n(bound_bytes, *bound_bytes + HELD_BYTES, __ATOMIC_RELEASE);
}

static void peak_new(void) {
  count_peak_ns = count_rise_ns();
  __atomic_add_fetch(&count_shared.epoch, 1, __ATOMIC_RELAXED);
}

// ---- how high totals may have been while commits were put off

// A free then took from a height that nobody had added up. Since shares were last added up; kept from the first commit
// that was put off.
static struct {
  bool begun;
  uint64_t turned_bytes;              // what all threads had ever allocated then, and more: their samplers' budgets
  int64_t live_bytes[GAUGE_COUNT];    // then
  int64_t highest_bytes[GAUGE_COUNT]; // of all times between: no total was higher
} put_off;

static void turned_add(struct thread *thread, void *context) { *(uint64_t *)context += thread_turned_bytes(thread); }

static void heights_begin(const struct sums *sums, uint64_t turned_bytes) {
  put_off.turned_bytes = turned_bytes;
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++) put_off.live_bytes[gauge] = sums->live_bytes[gauge];
}

// Since then no total was higher than the bounds together, nor by more than all that was allocated.
static void heights_note(const struct sums *sums) {
  uint64_t turned_bytes = 0;
  thread_each(turned_add, &turned_bytes);
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++) {
    int64_t highest = put_off.live_bytes[gauge] + (int64_t)(turned_bytes - put_off.turned_bytes);
    if (highest > gauge_table[gauge].bounds_bytes) highest = gauge_table[gauge].bounds_bytes;
    if (highest > put_off.highest_bytes[gauge]) put_off.highest_bytes[gauge] = highest;
  }
  heights_begin(sums, turned_bytes);
}

// Until the first free in a rise nothing has been taken from it: what is live is as high as it was.
static void put_off_begin(void) {
  struct sums sums = {0};
  uint64_t turned_bytes = 0;
  lock_take(&peak_lock);
  if (!put_off.begun) {
    thread_each(turned_add, &turned_bytes);
    thread_each(sum_all, &sums);
    heights_begin(&sums, turned_bytes);
    __atomic_store_n(&put_off.begun, true, __ATOMIC_RELEASE);
  }
  lock_drop(&peak_lock);
}

uint64_t count_peak_missed_bytes(void) {
  int64_t most_bytes = 0;
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++) {
    int64_t missed_bytes = put_off.highest_bytes[gauge] - gauge_table[gauge].peak_bytes;
    if (missed_bytes > gauge_table[gauge].peak_bytes / MISSED_SHARE && missed_bytes > most_bytes)
      most_bytes = missed_bytes;
  }
  return (uint64_t)most_bytes;
}

// ---- adding up

// Whether there is a new peak.
static bool sums_note(const struct sums *sums) {
  bool risen = false;
  if (put_off.begun) heights_note(sums);
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++) {
    struct gauge *peak = &gauge_table[gauge];
    if (sums->live_bytes[gauge] <= peak->peak_bytes) continue;
    peak->peak_bytes = sums->live_bytes[gauge];
    if (gauge == GAUGE_ALL) peak_new();
    risen = true;
  }
  return risen;
}

// Adds up all shares and notes new peaks. They have to be frozen: then no share can grow; one that shrinks meanwhile
// was being freed all along.
static void add_up_frozen(void) {
  struct sums sums = {0};
  int64_t room[GAUGE_COUNT];
  thread_each(sum_all, &sums);
  if (!sums.threads) return; // nobody has allocated yet
  sums_note(&sums);
  for (int gauge = 0; gauge < GAUGE_COUNT; gauge++) {
    struct gauge *peak = &gauge_table[gauge];
    room[gauge] = (peak->peak_bytes - sums.live_bytes[gauge]) / (owner ? 1 : sums.threads);
    peak->bounds_bytes = 0;
  }
  thread_each(bounds_set, room);
}

static void add_up_locked(void) {
  if (count_many_threads()) freeze_all();
  add_up_frozen();
}

static void owner_end_locked(void) {
  if (!owner) return;
  __atomic_store_n(&owner->quiet, GAUGES_QUIET, __ATOMIC_RELAXED);
  owner = NULL;
  adder_run = 0;
}

static void owner_begin_locked(struct count *count) {
  owner = count;
  __atomic_store_n(&count->quiet, GAUGES_OWNED, __ATOMIC_RELAXED);
  __atomic_store_n(&count_shared.gauges_state, GAUGES_OWNED, __ATOMIC_RELAXED); // frees of the others come here
}

// All shares are added up. Not before: a free of another thread would pass by, and what it frees be missing in the sum.
static void state_calm_locked(void) {
  __atomic_store_n(&count_shared.gauges_state, owner ? GAUGES_OWNED : GAUGES_QUIET, __ATOMIC_RELEASE);
}

// Adding up for a call of a thread: an eye is kept on who does and on what that costs.

static void adder_is(struct count *count) {
  if (count != last_adder) adder_run = 0, adder_run_tsc = 0;
  last_adder = count;
  adder_run++;
}

static bool is_owners_run(void) {
  return have_membarrier && adder_run >= OWNER_RUN && adder_run_tsc >= OWNER_RUN * thorough_tsc;
}

static uint64_t spend_since(uint64_t before_tsc) {
  uint64_t taken = __rdtsc() - before_tsc;
  if (taken > ADD_UP_TSC_MOST) taken = ADD_UP_TSC_MOST;
  spent_tsc += taken;
  adder_run_tsc += taken;
  return taken;
}

static void add_up_thoroughly_locked(struct count *count) {
  uint64_t before = __rdtsc();
  if (is_owners_run()) owner_begin_locked(count);
  add_up_locked();
  state_calm_locked();
  thorough_tsc = spend_since(before);
  vain_tsc = 0;
}

static void add_up_for_locked(struct count *count) {
  adder_is(count);
  add_up_thoroughly_locked(count);
}

// While totals rise, with nobody made to notice. Who sees that its bound is held waits at the lock; what a thread on
// another CPU is about to allocate may pass and be missing, as if it came after. Whoever knows that it is there already
// frees later, and finds it, as totals stay rising.
static void look_in_passing_locked(void) {
  struct sums sums = {0};
  uint64_t before = __rdtsc();
  thread_each(hold, NULL);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  thread_each(sum_all, &sums);
  bool risen = sums_note(&sums);
  thread_each(let_go, NULL);
  uint64_t taken = spend_since(before);
  vain_tsc = risen ? 0 : vain_tsc + taken;
}

// In passing, until that has taken as long for nothing, or for one thread alone, as what would end it.
static void commit_for_locked(struct count *count) {
  bool rising = count_shared.gauges_state == GAUGES_RISING;
  adder_is(count);
  if (rising && vain_tsc <= thorough_tsc && !is_owners_run())
    look_in_passing_locked();
  else
    add_up_thoroughly_locked(count);
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
  int64_t bound_bytes = share->live_bytes + RISING_BYTES;
  if (bound_bytes > share->bound_bytes) share->bound_bytes = bound_bytes;
}

static void share_rise_locked(struct count *count, int index) {
  int64_t bound_bytes = count->shares[index].bound_bytes;
  share_rise(count, index);
  gauge_table[index].bounds_bytes += count->shares[index].bound_bytes - bound_bytes;
}

static void rise_locked(struct count *count, int kind) {
  share_rise_locked(count, kind);
  share_rise_locked(count, GAUGE_ALL);
  __atomic_store_n(&count_shared.gauges_state, GAUGES_RISING, __ATOMIC_SEQ_CST);
}

static bool would_rise(const struct count *count, int index) {
  return count->shares[index].live_bytes > count->shares[index].bound_bytes;
}

// With room below the peaks for this thread after all shares were looked at, nothing rises.
static bool room_find_locked(struct count *count, int kind) {
  if (room_take(count, kind) && room_take(count, GAUGE_ALL)) return true;
  if (!leave_to_add_up()) return false;
  int64_t heights[2] = {gauge_table[kind].peak_bytes, gauge_table[GAUGE_ALL].peak_bytes};
  add_up_for_locked(count);
  bool rose = gauge_table[kind].peak_bytes > heights[0] || gauge_table[GAUGE_ALL].peak_bytes > heights[1];
  return !rose && !would_rise(count, kind) && !would_rise(count, GAUGE_ALL);
}

// ---- the same with one thread, many times a second in a program that grows: its share is the sum, and nobody else
// looks at the gauges

static void peak_new_alone(const struct count *count) {
  uint64_t last_ns = rose_ns(count);
  count_peak_ns = last_ns > rise_seen_ns ? last_ns : rise_seen_ns;
  count_shared.epoch++;
}

static uint32_t risen; // a bit for each gauge that is over its bound since the last commit

static void gauge_commit_alone(struct count *count, int index) {
  struct gauge_share *share = &count->shares[index];
  struct gauge *gauge = &gauge_table[index];
  if (share->live_bytes > gauge->peak_bytes) {
    gauge->peak_bytes = share->live_bytes;
    if (index == GAUGE_ALL) peak_new_alone(count);
  }
  share->bound_bytes = gauge->bounds_bytes = gauge->peak_bytes;
}

static void commit_alone(struct count *count) {
  count_shared.gauges_state = GAUGES_QUIET;
  for (; risen; risen &= risen - 1) gauge_commit_alone(count, __builtin_ctz(risen));
}

// With an owner: its growth needs nobody's room, anybody else's ends the ownership.
static void over_bound_locked(struct count *count, int kind) {
  rise_seen_ns = sys_tick_ns();
  if (owner == count) return rise_locked(count, kind);
  if (owner) {
    owner_end_locked();
    add_up_for_locked(count);
    if (!would_rise(count, kind) && !would_rise(count, GAUGE_ALL)) return;
  }
  if (count_shared.gauges_state == GAUGES_RISING || !room_find_locked(count, kind)) rise_locked(count, kind);
}

HT_NOINLINE void gauges_over_bound(struct count *count, int kind) {
  if (likely(!count_many_threads())) {
    share_rise(count, kind);
    share_rise(count, GAUGE_ALL);
    risen |= 1u << kind | 1u << GAUGE_ALL;
    rise_seen_ns = sys_tick_ns();
    count_shared.gauges_state = GAUGES_RISING;
    return;
  }
  lock_take(&peak_lock);
  over_bound_locked(count, kind);
  lock_drop(&peak_lock);
}

static void commit_locked(struct count *count) {
  if (owner == count) {
    __atomic_store_n(&count_shared.gauges_state, GAUGES_OWNED, __ATOMIC_RELAXED);
    add_up_frozen(); // the others' bounds are where their shares are
  } else {
    owner_end_locked();
    commit_for_locked(count);
  }
}

HT_NOINLINE void gauges_commit(struct count *count) {
  if (likely(!count_many_threads())) return commit_alone(count);
  if (count->quiet == GAUGES_RISING) { // it was refused, and what rose then has been added up since
    count->quiet = GAUGES_QUIET;
    if (!count_must_commit(count)) return;
  }
  if (__atomic_load_n(&owner, __ATOMIC_RELAXED) != count && !leave_to_add_up()) {
    if (!__atomic_load_n(&put_off.begun, __ATOMIC_ACQUIRE)) put_off_begin();
    count->quiet = GAUGES_RISING;
    return;
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST); // who begins after this counts in what the thread has
  uint64_t begun = __atomic_load_n(&commits_begun, __ATOMIC_RELAXED);
  lock_take(&peak_lock);
  bool counted_in = commits_begun != begun && !owner; // an ownership has to end first
  if (count_must_commit(count) && !counted_in) {      // else another thread has, for both
    __atomic_store_n(&commits_begun, commits_begun + 1, __ATOMIC_RELAXED);
    commit_locked(count);
  }
  lock_drop(&peak_lock);
}

void gauges_catch_up(void) {
  if (!count_many_threads() || __atomic_load_n(&count_shared.gauges_state, __ATOMIC_RELAXED) != GAUGES_RISING) return;
  lock_take(&peak_lock);
  add_up_locked();
  state_calm_locked();
  lock_drop(&peak_lock);
}

// ---- folding

HT_NOINLINE void count_site_change(struct site *site, const struct site_change *change) {
  site_touch(site);
  site_add(site, change);
}

HT_NOINLINE void count_site_alloc_long(struct site *site, size_t size_bytes) {
  count_site_change(site, &(struct site_change){.allocations = 1, .allocated_bytes = size_bytes});
}

HT_NOINLINE void count_site_free_long(struct site *site, size_t size_bytes, bool temporary) {
  count_site_change(site, &(struct site_change){.frees = 1, .freed_bytes = size_bytes, .temporaries = temporary});
}

static void site_lock_spin(struct site *site) {
  while (__atomic_exchange_n(&site->busy, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
}

// What `entry` held at the last peak moves into the site together with its deltas.
static void entry_fold(struct count_entry *entry) {
  struct site *site = &site_table[entry->site];
  uint32_t epoch = __atomic_load_n(&count_shared.epoch, __ATOMIC_RELAXED);
  bool touched = entry->epoch == epoch;
  int64_t live_bytes = (int64_t)(entry->allocated_bytes - entry->freed_bytes);
  int32_t live_blocks = (int32_t)(entry->allocations - entry->frees);
  struct site_change change = {
      .allocations = entry->allocations,
      .frees = entry->frees,
      .temporaries = entry->temporaries,
      .allocated_bytes = entry->allocated_bytes,
      .freed_bytes = entry->freed_bytes,
      .peak_bytes = touched ? entry->peak_bytes_saved : live_bytes,
      .peak_blocks = touched ? entry->peak_blocks_saved : live_blocks,
  };
  site_lock_spin(site);
  count_site_change(site, &change);
  __atomic_store_n(&site->busy, 0, __ATOMIC_RELEASE);
}

HT_NOINLINE void count_entry_evict(struct count_entry *entry, uint32_t site) {
  if (entry->site) entry_fold(entry);
  *entry = (struct count_entry){.site = site, .epoch = count_shared.epoch};
}

// An entry is folded before one of its 32 bits of calls would be lost.
static struct count_entry *entry_with_room(struct count *count, site_id site, uint32_t copies) {
  struct count_entry *entry = count_entry_of(count, site);
  if (unlikely((entry->allocations | entry->frees) > UINT32_MAX - copies)) count_entry_evict(entry, site.value);
  return entry;
}

void count_alloc_many(struct count *count, site_id site, enum ht_kind kind, size_t size_bytes, uint32_t copies) {
  size_t bytes = size_bytes * copies;
  if (count_many_threads()) {
    struct count_entry *entry = entry_with_room(count, site, copies);
    entry->allocations += copies;
    entry->allocated_bytes += bytes;
  } else {
    count_site_change(site_at(site), &(struct site_change){.allocations = copies, .allocated_bytes = bytes});
  }
  struct size_count *sizes = &count->kinds[kind].sizes[size_class(size_bytes)];
  sizes->allocations += copies;
  sizes->bytes += bytes;
  gauges_add(count, (int)kind, bytes);
}

void count_free_many(struct count *count, site_id site, enum ht_kind kind, size_t size_bytes, bool temporary,
                     uint32_t copies) {
  size_t bytes = size_bytes * copies;
  count->kinds[kind].frees[temporary] += copies;
  gauges_subtract(count, (int)kind, bytes);
  if (count_many_threads()) {
    struct count_entry *entry = entry_with_room(count, site, copies);
    entry->frees += copies;
    entry->freed_bytes += bytes;
    entry->temporaries += temporary ? copies : 0;
    return;
  }
  count_site_change(site_at(site), &(struct site_change){
                                       .frees = copies, .freed_bytes = bytes, .temporaries = temporary ? copies : 0});
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

// A racing update may leave a difference below 0 for the moment, a block that was freed unseen for good: its size is
// only guessed when its address is handed out again.
static uint64_t not_negative(uint64_t value) { return (int64_t)value > 0 ? value : 0; }

static void wide_read(const struct site_wide *wide, struct site_figures *figures) {
  bool touched = wide->epoch == count_shared.epoch;
  uint64_t live_bytes = wide->allocated_bytes - wide->freed_bytes, live_blocks = wide->allocations - wide->frees;
  figures->allocations += wide->allocations;
  figures->frees += wide->frees;
  figures->temporaries += wide->temporaries;
  figures->allocated_bytes += wide->allocated_bytes;
  figures->live_bytes += live_bytes;
  figures->live_blocks += live_blocks;
  figures->peak_bytes += touched ? (uint64_t)wide->peak_bytes : live_bytes;
  figures->peak_blocks += touched ? (uint64_t)wide->peak_blocks : live_blocks;
}

// Without what threads have not folded yet, so that a difference may be below 0.
static void figures_read(site_id id, struct site_figures *figures) {
  const struct site *site = site_at(id);
  const struct site_wide *wide = site_wide(id);
  uint32_t live = site->allocated - site->freed, peak = site->epoch == count_shared.epoch ? site->peak : live;
  *figures = (struct site_figures){
      .allocations = site->allocated / SITE_CALL,
      .frees = site->freed / SITE_CALL,
      .temporaries = site->temporaries,
      .allocated_bytes = site->allocated % SITE_CALL,
      .live_bytes = (uint64_t)site_word_bytes(live),
      .live_blocks = (uint64_t)site_word_calls(live),
      .peak_bytes = (uint64_t)site_word_bytes(peak),
      .peak_blocks = (uint64_t)site_word_calls(peak),
  };
  if (wide) wide_read(wide, figures);
}

static int64_t site_live(site_id id) {
  const struct site *site = site_at(id);
  const struct site_wide *wide = site_wide(id);
  int64_t live_bytes = site_word_bytes(site->allocated - site->freed);
  return wide ? live_bytes + (int64_t)(wide->allocated_bytes - wide->freed_bytes) : live_bytes;
}

void count_site_figures(site_id id, struct site_figures *figures) {
  figures_read(id, figures);
  figures->live_bytes = not_negative(figures->live_bytes);
  figures->live_blocks = not_negative(figures->live_blocks);
  figures->peak_bytes = not_negative(figures->peak_bytes);
  figures->peak_blocks = not_negative(figures->peak_blocks);
}

struct live_table {
  int64_t *live_bytes;
  uint32_t first, count;
};

static void add_deltas(struct thread *thread, void *context) {
  struct live_table *table = context;
  for (uint32_t i = 0; i < COUNT_ENTRIES; i++) {
    const struct count_entry *entry = &thread->count.entries[i];
    if (entry->site && entry->site - table->first < table->count)
      table->live_bytes[entry->site - table->first] += (int64_t)(entry->allocated_bytes - entry->freed_bytes);
  }
}

void (*count_live_source)(int64_t *live_bytes, uint32_t first, uint32_t count);

void count_sites_live(int64_t *live_bytes, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) live_bytes[i] = site_live((site_id){first + i});
  struct live_table table = {live_bytes, first, count};
  if (count_many_threads()) thread_each(add_deltas, &table);
  if (count_live_source) count_live_source(live_bytes, first, count);
}

struct figures_table {
  struct site_figures *figures;
  uint32_t count;
};

static void add_entry(struct site_figures *figures, const struct count_entry *entry) {
  uint64_t live_bytes = entry->allocated_bytes - entry->freed_bytes;
  uint64_t live_blocks = (uint64_t)entry->allocations - entry->frees;
  bool touched = entry->epoch == count_shared.epoch;
  figures->allocations += entry->allocations;
  figures->frees += entry->frees;
  figures->temporaries += entry->temporaries;
  figures->allocated_bytes += entry->allocated_bytes;
  figures->live_blocks += live_blocks;
  figures->peak_bytes += touched ? (uint64_t)entry->peak_bytes_saved : live_bytes;
  figures->peak_blocks += touched ? (uint64_t)(int64_t)entry->peak_blocks_saved : live_blocks;
}

static void add_entries(struct thread *thread, void *context) {
  struct figures_table *table = context;
  for (uint32_t i = 0; i < COUNT_ENTRIES; i++) {
    const struct count_entry *entry = &thread->count.entries[i];
    if (entry->site && entry->site < table->count) add_entry(&table->figures[entry->site], entry);
  }
}

static void figures_round(struct site_figures *figures, int64_t live_bytes, bool rising) {
  figures->live_bytes = not_negative((uint64_t)live_bytes);
  figures->live_blocks = not_negative(figures->live_blocks);
  figures->peak_bytes = rising ? figures->live_bytes : not_negative(figures->peak_bytes);
  figures->peak_blocks = rising ? figures->live_blocks : not_negative(figures->peak_blocks);
}

bool count_is_rising(void) { return count_live(GAUGE_ALL) > gauge_table[GAUGE_ALL].peak_bytes; }

bool count_stands_still(void) { return !count_many_threads() && !count_live_source; }

void count_site_now(site_id id, bool is_rising, struct site_figures *figures) {
  figures_read(id, figures);
  figures_round(figures, (int64_t)figures->live_bytes, is_rising);
}

void count_sites_now(struct site_figures *figures, int64_t *live_bytes, uint32_t count) {
  struct figures_table table = {figures, count};
  bool rising = count_is_rising();
  for (uint32_t id = 1; id < count; id++) figures_read((site_id){id}, &figures[id]);
  if (count_many_threads()) thread_each(add_entries, &table);
  count_sites_live(live_bytes, 0, count);
  for (uint32_t id = 1; id < count; id++) figures_round(&figures[id], live_bytes[id], rising);
}

// ---- totals

void (*count_tally_source)(enum ht_kind kind, struct kind_tally *tally);

struct tally_sum {
  enum ht_kind kind;
  struct kind_tally tally;
};

static void sum_tally(struct thread *thread, void *context) {
  struct tally_sum *sum = context;
  const struct kind_tally *tally = &thread->count.kinds[sum->kind];
  for (int class = 0; class < SIZE_CLASSES; class ++) {
    sum->tally.sizes[class].allocations += tally->sizes[class].allocations;
    sum->tally.sizes[class].bytes += tally->sizes[class].bytes;
  }
  for (int temporary = 0; temporary < 2; temporary++) sum->tally.frees[temporary] += tally->frees[temporary];
}

static void tally_all(enum ht_kind kind, struct tally_sum *sum) {
  *sum = (struct tally_sum){.kind = kind};
  thread_each(sum_tally, sum);
  if (count_tally_source) count_tally_source(kind, &sum->tally);
}

struct kind_count count_kind_total(enum ht_kind kind) {
  struct tally_sum sum;
  tally_all(kind, &sum);
  struct kind_count total = {.frees = sum.tally.frees[0] + sum.tally.frees[1], .temporaries = sum.tally.frees[1]};
  for (int class = 0; class < SIZE_CLASSES; class ++) {
    total.allocations += sum.tally.sizes[class].allocations;
    total.allocated_bytes += sum.tally.sizes[class].bytes;
  }
  return total;
}

void count_size_totals(struct size_count sizes[SIZE_CLASSES]) {
  for (int class = 0; class < SIZE_CLASSES; class ++) sizes[class] = (struct size_count){0, 0};
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) {
    struct tally_sum sum;
    tally_all((enum ht_kind)kind, &sum);
    for (int class = 0; class < SIZE_CLASSES; class ++) {
      sizes[class].allocations += sum.tally.sizes[class].allocations;
      sizes[class].bytes += sum.tally.sizes[class].bytes;
    }
  }
}

static void clear_thread(struct thread *thread, void *unused) {
  (void)unused;
  __builtin_memset(&thread->count, 0, sizeof thread->count);
}

void count_fork_child(void) {
  thread_each(clear_thread, NULL);
  __builtin_memset(gauge_table, 0, sizeof gauge_table);
  count_shared.gauges_state = GAUGES_QUIET;
  count_peak_ns = rise_seen_ns = 0;
  owner = last_adder = NULL;
  adder_run = risen = 0;
  adder_run_tsc = thorough_tsc = vain_tsc = 0;
  count_shared.epoch++;
  __builtin_memset(&put_off, 0, sizeof put_off);
  spent_tsc = 0; // what the parent's threads cost is not the child's
  count_init();
}
