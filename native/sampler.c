#include "sampler.h"

#include <x86intrin.h>

#include "count.h"
#include "lock.h"
#include "process_info.h"
#include "site.h"
#include "sys.h"
#include "thread.h"

// A busy thread looks at the clock this often in a period, so that a sample is late by a 64th of it at most.
#define LOOKS_PER_PERIOD 64
// Walking the sites may take 1 % of the time, and so may adding up the calls.
#define WALK_SHARE 100
#define TALLY_SHARE 100
#define WALK_SITES 65536u // looked at in one go: each takes 8 bytes, and a look through what threads have not folded
#define WALK_GUESS_NS 5   // a step, before the first walk was measured

// The clock. Set once before threads exist (or in the fork child); `ticks_per_1024_ns` is refined under sample_lock.
static uint64_t start_ns, start_unix_ns, start_tsc;
static uint64_t ticks_per_1024_ns = 1024; // 1 GHz: slower than any, so that nobody looks too late at first

static struct lock sample_lock = LOCK_INIT(LOCK_RANK_SAMPLE);
// Under sample_lock; the first two are read without it by every tick.
static uint64_t deadline_tsc;
static uint64_t look_spacing_tsc;
static struct timeline *timeline;
static struct site_history *history;
static uint64_t history_due_ns;
static uint64_t walk_ns, walk_steps;      // what the last walk took
static uint64_t calls_due_ns;             // when calls are added up next
static uint64_t allocations, temporaries; // when they were last

struct lock *sampler_lock(void) {
  return &sample_lock;
}
const struct timeline *sampler_timeline(void) { return timeline; }
const struct site_history *sampler_history(void) { return history; }

// ---- the clock

static uint64_t frozen_ns; // 0: time runs

uint64_t sampler_elapsed_ns(void) { return frozen_ns ? frozen_ns : sys_now_ns() - start_ns; }
void sampler_freeze(void) { frozen_ns = sampler_elapsed_ns(); }
uint64_t sampler_started_unix_ns(void) { return start_unix_ns; }

static uint64_t ticks_from_ns(uint64_t ns) { return (uint64_t)((unsigned __int128)ns * ticks_per_1024_ns / 1024); }

// The longer the span, the better: both clocks are read within some 50 ns.
static void clock_calibrate(uint64_t now_ns, uint64_t tsc) {
  if (now_ns < 100000 || tsc <= start_tsc) return;
  ticks_per_1024_ns = (uint64_t)((unsigned __int128)(tsc - start_tsc) * 1024 / now_ns) | 1;
}

uint64_t sampler_ns_at(uint64_t now_ns) { return now_ns <= start_ns ? 0 : now_ns - start_ns; }

static void clock_start(void) {
  start_ns = sys_now_ns();
  start_unix_ns = sys_unix_now_ns();
  start_tsc = __rdtsc();
}

// ---- taking samples; all under sample_lock

static void live_read(struct timeline_values *values) {
  gauges_catch_up();
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) {
    int64_t live = count_live(kind);
    values->live_bytes[kind] = live > 0 ? (uint64_t)live : 0;
  }
  values->rss_bytes = process_rss_bytes();
}

static void calls_add_up(uint64_t *allocated, uint64_t *temporary) {
  *allocated = *temporary = 0;
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) {
    struct kind_count total = count_kind_total((enum ht_kind)kind);
    *allocated += total.allocations;
    *temporary += total.temporaries;
  }
}

// Adding up goes through every thread's size classes, and through all of Python's small ones. Where that takes long,
// calls stand at a later sample than they belong to. Threads go on meanwhile: what was counted once stays counted.
static void calls_read(uint64_t now_ns, struct timeline_values *values) {
  if (now_ns >= calls_due_ns) {
    uint64_t begin_ns = sys_now_ns(), allocated, temporary;
    calls_add_up(&allocated, &temporary);
    if (allocated > allocations) allocations = allocated;
    if (temporary > temporaries) temporaries = temporary;
    calls_due_ns = now_ns + (sys_now_ns() - begin_ns) * TALLY_SHARE;
  }
  values->allocations = allocations;
  values->temporaries = temporaries;
}

static uint64_t live_total(const struct timeline_values *values) {
  uint64_t total = 0;
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) total += values->live_bytes[kind];
  return total;
}

// What a walk goes through: every site, and every thread's entries.
static uint64_t walk_steps_now(void) {
  return site_count + (uint64_t)(count_many_threads() ? thread_count_alive() : 0) * COUNT_ENTRIES;
}

// What the next walk will take, going by the last one.
static uint64_t walk_expected_ns(void) {
  uint64_t steps = walk_steps_now();
  return walk_steps ? (uint64_t)((unsigned __int128)walk_ns * steps / walk_steps) : steps * WALK_GUESS_NS;
}

static void history_walk(uint64_t total_bytes) {
  uint64_t least = total_bytes / HISTORY_SITE_MIN_SHARE;
  if (least < HISTORY_SITE_MIN_BYTES) least = HISTORY_SITE_MIN_BYTES;
  uint32_t end = __atomic_load_n(&site_count, __ATOMIC_ACQUIRE);
  int64_t *live_bytes = sys_map(WALK_SITES * sizeof *live_bytes);
  if (!live_bytes) return;
  for (uint32_t first = site_inherited, count; first < end; first += count) {
    count = end - first < WALK_SITES ? end - first : WALK_SITES;
    count_sites_live(live_bytes, first, count);
    for (uint32_t i = 0; i < count; i++)
      if (live_bytes[i] >= (int64_t)least) history_add(history, (site_id){first + i}, (uint64_t)live_bytes[i]);
  }
  sys_unmap(live_bytes, WALK_SITES * sizeof *live_bytes);
}

// The next point's time: whole periods after the start, where samples are taken too.
static uint64_t history_grid_ns(uint64_t after_ns) { return (after_ns / history->period_ns + 1) * history->period_ns; }

// A point of the sites. After a gap of more than a period, one at the time it was due as well: the values have held
// since then, and a rise at the end of the gap must not look like a slow one.
static void history_take(uint64_t now_ns, const struct timeline_values *values) {
  uint64_t begin_ns = sys_now_ns();
  bool gap = now_ns > history_due_ns + history->period_ns;
  walk_steps = walk_steps_now() + 1;
  history_point(history, gap ? history_due_ns : now_ns);
  history_walk(live_total(values));
  if (gap) history_repeat(history, now_ns);
  walk_ns = sys_now_ns() - begin_ns;
  history_due_ns = history_grid_ns(now_ns + walk_ns * WALK_SHARE);
}

static void history_tick(uint64_t now_ns, const struct timeline_values *values) {
  if (!history || now_ns < history_due_ns) return;
  uint64_t last_ns = history->point_count ? history->points[history->point_count - 1].at_ns : 0;
  uint64_t afford_ns = (now_ns - last_ns) / WALK_SHARE;
  if (walk_expected_ns() <= afford_ns)
    history_take(now_ns, values);
  else
    history_due_ns = now_ns + history->period_ns;
}

static void (*sample_watch)(uint64_t now_ns, struct timeline_values *values);
static void (*look_watch)(uint64_t now_ns);
void sampler_on_sample(void (*watch)(uint64_t now_ns, struct timeline_values *values)) { sample_watch = watch; }
void sampler_on_look(void (*watch)(uint64_t now_ns)) { look_watch = watch; }

static void sample_take(uint64_t now_ns) {
  struct timeline_values values;
  live_read(&values);
  calls_read(now_ns, &values);
  if (sample_watch) sample_watch(now_ns, &values);
  timeline_fill(timeline, now_ns, &values);
  history_tick(now_ns, &values);
}

static void sample_look(uint64_t tsc) {
  uint64_t now_ns = sampler_elapsed_ns();
  clock_calibrate(now_ns, tsc);
  if (now_ns >= timeline_due_ns(timeline)) sample_take(now_ns);
  if (look_watch) look_watch(now_ns);
  __atomic_store_n(&deadline_tsc, tsc + ticks_from_ns(timeline_due_ns(timeline) - now_ns), __ATOMIC_RELAXED);
  __atomic_store_n(&look_spacing_tsc, ticks_from_ns(timeline->period_ns / LOOKS_PER_PERIOD), __ATOMIC_RELAXED);
}

// ---- ticks

// Doubles the budget while the thread comes back too soon, cuts it by how much it came too late.
static void budget_refill(struct thread *thread, uint64_t tsc) {
  uint64_t spacing = __atomic_load_n(&look_spacing_tsc, __ATOMIC_RELAXED);
  uint64_t spent = tsc - thread->sample_tsc;
  int64_t budget = thread->sample_budget_given;
  if (spent < spacing)
    budget *= 2;
  else
    budget = (int64_t)((uint64_t)budget / (spent / (spacing + 1) + 1));
  if (budget < SAMPLE_BUDGET_MIN_BYTES) budget = SAMPLE_BUDGET_MIN_BYTES;
  if (budget > SAMPLE_BUDGET_BYTES) budget = SAMPLE_BUDGET_BYTES;
  thread->sample_tsc = tsc;
  thread->turned_bytes += (uint64_t)(thread->sample_budget_given - thread->sample_budget);
  thread->sample_budget = thread->sample_budget_given = budget;
}

void sampler_tick(struct thread *thread) {
  uint64_t tsc = __rdtsc();
  budget_refill(thread, tsc);
  count_look(&thread->count, sys_tick_ns());
  if (tsc < __atomic_load_n(&deadline_tsc, __ATOMIC_RELAXED) || !timeline) return;
  if (!lock_try(&sample_lock)) return;
  sample_look(tsc);
  lock_drop(&sample_lock);
}

// ---- start and end

static void sampler_restart(uint64_t period_ns) {
  clock_start();
  deadline_tsc = 0;
  look_spacing_tsc = ticks_from_ns(period_ns / LOOKS_PER_PERIOD);
  history_due_ns = period_ns; // at the start nothing is live
  calls_due_ns = 0;
  allocations = temporaries = 0;
  if (timeline) {
    struct timeline_values nothing = {.rss_bytes = process_rss_bytes()};
    timeline_start(timeline, period_ns);
    timeline_fill(timeline, 0, &nothing);
  }
  if (history) history_start(history, period_ns);
}

static uint64_t first_period_ns;

bool sampler_init(uint64_t every_ms) {
  first_period_ns = (every_ms ? every_ms : 1) * 1000000;
  timeline = sys_map(sizeof *timeline);
  history = sys_map(sizeof *history);
  sampler_restart(first_period_ns);
  return timeline != NULL && history != NULL;
}

void sampler_fork_child(void) {
  sampler_restart(first_period_ns);
  if (thread_tls) thread_tls->sample_budget = 0; // handed out for the parent's samples
}

// The lock may be held by a parked thread, or by this one when it crashed in here; then the last sample is missing.
void sampler_finish(const uint64_t live_bytes[HT_KIND_COUNT]) {
  if (!lock_try(&sample_lock)) return;
  struct timeline_values values;
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) values.live_bytes[kind] = live_bytes[kind];
  values.rss_bytes = process_rss_bytes();
  uint64_t now_ns = sampler_elapsed_ns();
  clock_calibrate(now_ns, __rdtsc());
  calls_due_ns = 0;
  calls_read(now_ns, &values);
  if (sample_watch) sample_watch(now_ns, &values);
  if (timeline) timeline_fill(timeline, now_ns, &values);
  if (history) history_take(now_ns, &values);
  lock_drop(&sample_lock);
}
