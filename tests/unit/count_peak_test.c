// sources: native/count.c
// The peak of two threads that free at once: what the second frees while the first adds up is not missing in the sum.
#include "../../native/count.h"
#include "../../native/lock.h"
#include "../../native/thread.h"
#include "expect.h"

#include <string.h>

// ---- what count.c stands on

__thread uint8_t lock_depth;
void lock_wait(struct lock *lock) { (void)lock; }
uint64_t sys_tick_ns(void) { return 1; }

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
  allocate(1, 1000);
  EXPECT(count_must_commit(&threads[0].count) && count_must_commit(&threads[1].count));
  between = second_frees;
  release(0, 1000);
  between = NULL;
  EXPECT(passed_by == 0);
  EXPECT(!count_must_commit(&threads[1].count));
  release(1, 1000);
  EXPECT(gauge_table[GAUGE_ALL].peak_bytes == 2000 && gauge_table[HT_KIND_HEAP].peak_bytes == 2000);
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

// Whoever adds up often with nobody else in between becomes the owner; the other's free ends that.
static void an_owner_is_no_exception(void) {
  start();
  allocate(1, 100);
  for (int round = 1; round <= 8; round++) {
    allocate(0, 100 * (size_t)round);
    between = second_frees;
    release(0, 100);
    between = NULL;
  }
  EXPECT(passed_by == 0);
  EXPECT(count_must_commit(&threads[1].count)); // GAUGES_OWNED
  EXPECT(gauge_table[GAUGE_ALL].peak_bytes == 100 + 3600 - 700);
  release(1, 100);
  EXPECT(!count_must_commit(&threads[1].count) && gauge_table[GAUGE_ALL].peak_bytes == 3000);
}

// A block that was freed unseen may be taken for a larger one when its address is handed out again.
static void figures_never_wrap(void) {
  struct site_figures figures;
  sites[6] = (struct site){.allocations = 2, .frees = 1, .allocated_bytes = 200, .freed_bytes = 500};
  count_site_figures((site_id){6}, &figures);
  EXPECT(figures.live_bytes == 0 && figures.peak_bytes == 0 && figures.live_blocks == 1);
}

int main(void) {
  figures_never_wrap();
  frees_wait_while_shares_are_added_up();
  the_sampler_makes_frees_wait_too();
  an_owner_is_no_exception();
  return failures != 0;
}
