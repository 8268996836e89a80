// sources: native/count.c native/site_counters.c
// The peak of two threads that free at once: what the second frees while the first adds up is not missing in the sum.
#include "../../native/count.h"
#include "../../native/lock.h"
#include "../../native/thread.h"
#include "expect.h"

#include <string.h>

// ---- what count.c stands on

__thread uint8_t lock_depth;
static void (*while_waiting)(void); // what the holder of the lock does until the waiting thread has it
void lock_wait(struct lock *lock) {
  lock->state = 0;
  while_waiting();
  lock->state = 1;
}
uint64_t sys_tick_ns(void) { return 1; }
void sys_trim(void *start, size_t bytes, size_t kept_bytes) { (void)start, (void)bytes, (void)kept_bytes; }
static char memory[1 << 16];
static size_t memory_used;
void *sys_map(size_t bytes) {
  char *start = memory + memory_used;
  memory_used += (bytes + 63) & ~63ul;
  return start;
}

static struct site sites[8];
struct site *site_table = sites;

static struct thread threads[2];
static void (*between)(void); // called when the first thread has been visited

void thread_each(void (*visit)(struct thread *, void *), void *context) {
  visit(&threads[0], context);
  if (between) between();
  visit(&threads[1], context);
}

// ---- the test

static const site_id site = {5};

static void allocate(int thread, size_t bytes) { count_alloc(&threads[thread].count, site, HT_KIND_HEAP, bytes); }
static void release(int thread, size_t bytes) { count_free(&threads[thread].count, site, HT_KIND_HEAP, bytes, false); }

// Where frees find no new peak for a while, one of them makes sure that all is known.
static void release_until_calm(int64_t most_bytes) {
  while (count_shared.gauges_state == GAUGES_RISING && most_bytes--) release(most_bytes % 2, 1);
  EXPECT(count_shared.gauges_state == GAUGES_QUIET);
}

static int passed_by;
static void second_frees(void) { passed_by += !count_must_commit(&threads[1].count); }

static void start(void) {
  memset(threads, 0, sizeof threads);
  memset(gauge_table, 0, sizeof gauge_table);
  count_fork_child();
  count_shared.many_threads = true;
}

static void frees_wait_while_shares_are_added_up(void) {
  start();
  allocate(0, 1000);
  allocate(1, 1000000);
  EXPECT(count_must_commit(&threads[0].count) && count_must_commit(&threads[1].count));
  between = second_frees;
  release(0, 1000);
  between = NULL;
  EXPECT(passed_by == 0);
  EXPECT(count_must_commit(&threads[1].count)); // of what it was just allocating the first may not have known
  release_until_calm(500000);
  EXPECT(!count_must_commit(&threads[1].count));
  EXPECT(gauge_table[GAUGE_ALL].peak_bytes == 1001000 && gauge_table[HT_KIND_HEAP].peak_bytes == 1001000);
}

static void the_sampler_makes_frees_wait_too(void) {
  start();
  allocate(0, 1000);
  allocate(1, 500);
  between = second_frees;
  gauges_catch_up();
  between = NULL;
  EXPECT(passed_by == 0);
  EXPECT(gauge_table[GAUGE_ALL].peak_bytes == 1500 && !count_must_commit(&threads[1].count));
}

static int calls, within;
static void second_allocates(void) {
  calls++;
  within += !gauges_add_within(&threads[1].count, HT_KIND_HEAP, 10);
  gauges_subtract_calmly(&threads[1].count, HT_KIND_HEAP, 10);
}

// Each step up is a peak, found with nobody made to notice: whoever allocates meanwhile has to wait, but for the one
// that did before it could know.
static void a_rise_is_followed_in_passing(void) {
  start();
  allocate(1, 100);
  allocate(0, 100);
  for (int round = 1; round <= 20; round++) {
    int thread = round % 2;
    release(thread, 40);
    EXPECT(gauge_table[GAUGE_ALL].peak_bytes == 200 + 60 * (round - 1));
    EXPECT(count_must_commit(&threads[0].count) && count_must_commit(&threads[1].count));
    allocate(!thread, 100);
  }
  calls = within = 0;
  between = second_allocates;
  release(0, 40);
  between = NULL;
  EXPECT(calls >= 3 && within == 1); // while all are held, added up, let go
  second_allocates();
  EXPECT(within == 2);
  EXPECT(gauge_table[GAUGE_ALL].peak_bytes == 200 + 60 * 20 && gauge_table[GAUGE_ALL].bounds_bytes > 2 * 65536);
}

static int looks;
static void count_look_taken(void) { looks++; }
static void first_commits(void) { release(0, 40); }

static void release_while_waiting(int thread, size_t bytes, void (*others)(void)) {
  while_waiting = others;
  count_lock()->state = 1;
  release(thread, bytes);
  while_waiting = NULL;
}

// Who waited for the lock while another added up is counted in.
static void one_look_is_for_all_that_wait(void) {
  start();
  allocate(1, 100);
  allocate(0, 100);
  looks = 0;
  between = count_look_taken;
  release_while_waiting(1, 40, first_commits);
  between = NULL;
  int looks_of_two = looks;
  allocate(1, 100);
  looks = 0;
  between = count_look_taken;
  first_commits();
  between = NULL;
  EXPECT(looks > 0 && looks == looks_of_two && gauge_table[GAUGE_ALL].peak_bytes == 220);
}

static void first_becomes_owner(void) {
  for (int round = 0; count_shared.gauges_state != GAUGES_OWNED && round < 1 << 20; round++) {
    allocate(0, 200);
    release(0, 100);
  }
  EXPECT(count_shared.gauges_state == GAUGES_OWNED);
}

// But for one that has become the owner: as long as that lasts nobody else is expected.
static void who_waits_ends_an_ownership(void) {
  start();
  allocate(0, 100);
  allocate(1, 100);
  release_while_waiting(1, 40, first_becomes_owner);
  EXPECT(count_shared.gauges_state == GAUGES_QUIET);
}

// Whoever adds up often with nobody else in between becomes the owner; the other's free ends that.
static void an_owner_is_no_exception(void) {
  enum { ROUNDS_MOST = 1 << 20 };
  int64_t rounds = 0;
  start();
  allocate(1, 100);
  while (count_shared.gauges_state != GAUGES_OWNED && rounds < ROUNDS_MOST) {
    allocate(0, 200);
    between = second_frees;
    release(0, 100);
    between = NULL;
    rounds++;
  }
  EXPECT(passed_by == 0 && rounds >= 4);
  EXPECT(count_must_commit(&threads[1].count)); // GAUGES_OWNED
  EXPECT(gauge_table[GAUGE_ALL].peak_bytes == 100 * rounds + 200);
  release(1, 100);
  EXPECT(!count_must_commit(&threads[1].count) && gauge_table[GAUGE_ALL].peak_bytes == 100 * rounds + 200);
}

// As a hook does it: the sampler's budget pays for the call.
static void turn(int thread, size_t bytes) {
  threads[thread].turned_bytes += bytes;
  allocate(thread, bytes);
}

// Both threads in turn, so that none becomes the owner, higher each time, until no more time may be spent on that.
// Returns the thread that was refused last and how much the two hold.
static int rise_until_refused(int64_t *live_bytes) {
  int thread = 1;
  *live_bytes = 0;
  do {
    thread = !thread;
    turn(thread, 1000);
    turn(thread, 100);
    release(thread, 100);
    *live_bytes += 1000;
  } while (threads[thread].count.quiet != GAUGES_RISING);
  return thread;
}

static void a_missed_peak_that_is_small_is_none(void) {
  int64_t live_bytes;
  start();
  threads[0].turned_bytes = 1ul << 40; // from before
  rise_until_refused(&live_bytes);
  EXPECT(gauge_table[GAUGE_ALL].peak_bytes < live_bytes + 100);
  gauges_catch_up();
  EXPECT(gauge_table[GAUGE_ALL].peak_bytes <= live_bytes + 100 && count_peak_missed_bytes() == 0);
}

static void a_missed_peak_has_a_limit(void) {
  enum { MISSED_BYTES = 100 << 20, BOUNDS_BYTES = 4 * 65536 };
  int64_t live_bytes;
  start();
  int thread = rise_until_refused(&live_bytes);
  turn(thread, MISSED_BYTES);
  release(thread, MISSED_BYTES);
  gauges_catch_up();
  EXPECT(gauge_table[GAUGE_ALL].peak_bytes <= live_bytes + 100);
  EXPECT(count_peak_missed_bytes() >= MISSED_BYTES && count_peak_missed_bytes() < MISSED_BYTES + BOUNDS_BYTES);
  turn(thread, 2 * (size_t)MISSED_BYTES); // a peak that is higher than any that may have been missed
  gauges_catch_up();
  EXPECT(count_peak_missed_bytes() == 0);
}

// A block that was freed unseen may be taken for a larger one when its address is handed out again.
static void figures_never_wrap(void) {
  struct site_figures figures;
  sites[6] = (struct site){.allocated = 2 * SITE_CALL + 200, .freed = SITE_CALL + 500};
  count_site_figures((site_id){6}, &figures);
  EXPECT(figures.live_bytes == 0 && figures.peak_bytes == 0 && figures.live_blocks == 1);
}

// More than a site's own words hold, of a thread that saw the peak and of one that did not.
static void folds_are_exact(void) {
  start();
  struct site_figures figures;
  site_id large = {7};
  int64_t live_bytes[8];
  for (int i = 0; i < 5000; i++) count_alloc(&threads[i % 2].count, large, HT_KIND_HEAP, 3000000);
  for (int i = 0; i < 4000; i++) count_free(&threads[i % 3 == 0].count, large, HT_KIND_HEAP, 3000000, i % 2);
  count_alloc(&threads[1].count, large, HT_KIND_HEAP, 10);
  count_sites_live(live_bytes, 0, 8);
  EXPECT(live_bytes[7] == 3000000010);
  count_sites_live(live_bytes, 6, 2);
  EXPECT(live_bytes[1] == 3000000010);
  count_settle();
  count_site_figures(large, &figures);
  EXPECT(figures.allocations == 5001 && figures.frees == 4000 && figures.temporaries == 2000);
  EXPECT(figures.allocated_bytes == 15000000010 && figures.live_bytes == 3000000010 && figures.live_blocks == 1001);
  EXPECT(figures.peak_bytes == 15000000000 && figures.peak_blocks == 5000);
  count_sites_live(live_bytes, 6, 2);
  EXPECT(live_bytes[1] == 3000000010);
}

// What a checkpoint says of a site while one thread runs: the peak is now as long as totals rise.
static void one_thread_stands_still(void) {
  start();
  threads[0].count = threads[1].count = (struct count){0};
  count_shared.many_threads = false;
  struct site_figures figures;
  site_id alone = {4};
  EXPECT(count_stands_still());
  count_alloc(&threads[0].count, alone, HT_KIND_HEAP, 2000000);
  count_site_now(alone, count_is_rising(), &figures);
  EXPECT(count_is_rising() && figures.peak_bytes == 2000000 && figures.live_blocks == 1);
  count_free(&threads[0].count, alone, HT_KIND_HEAP, 2000000, true);
  count_alloc(&threads[0].count, alone, HT_KIND_HEAP, 500);
  count_site_now(alone, count_is_rising(), &figures);
  EXPECT(!count_is_rising() && figures.peak_bytes == 2000000 && figures.peak_blocks == 1);
  EXPECT(figures.live_bytes == 500 && figures.allocations == 2 && figures.temporaries == 1);
  count_shared.many_threads = true;
  EXPECT(!count_stands_still());
}

int main(void) {
  if (!site_counters_init(8)) return 2;
  figures_never_wrap();
  folds_are_exact();
  one_thread_stands_still();
  frees_wait_while_shares_are_added_up();
  the_sampler_makes_frees_wait_too();
  a_rise_is_followed_in_passing();
  one_look_is_for_all_that_wait();
  who_waits_ends_an_ownership();
  an_owner_is_no_exception();
  a_missed_peak_that_is_small_is_none();
  a_missed_peak_has_a_limit();
  return failures != 0;
}
