// sources: native/site_counters.c native/sys.c native/lock.c
// Counters that are narrower than 64 bits in memory lose nothing: a site's words are carried into wide counters, a
// thread's deltas folded.
#include "../../native/count.h"
#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITES 16

struct count_shared count_shared = {.epoch = 1};
static struct site sites[SITES];
struct site *site_table = sites;

static struct count_entry folded;
void count_entry_evict(struct count_entry *entry, uint32_t site) {
  folded = *entry;
  *entry = (struct count_entry){.site = site, .epoch = count_shared.epoch};
}
void count_site_change(struct site *site, const struct site_change *change) {
  site_touch(site);
  site_add(site, change);
}
void count_site_alloc_long(struct site *site, size_t size_bytes) {
  count_site_change(site, &(struct site_change){.allocations = 1, .allocated_bytes = size_bytes});
}
void count_site_free_long(struct site *site, size_t size_bytes, bool temporary) {
  count_site_change(site, &(struct site_change){.frees = 1, .freed_bytes = size_bytes, .temporaries = temporary});
}

// What the counters of a site say, and what they have to.
struct truth {
  uint64_t allocations, frees, temporaries, allocated_bytes, freed_bytes;
  int64_t peak_bytes, peak_blocks;
};

static struct truth read_site(site_id id) {
  const struct site *site = site_at(id);
  const struct site_wide *wide = site_wide(id), none = {0};
  if (!wide) wide = &none;
  uint32_t peak = site->epoch == count_shared.epoch ? site->peak : site->allocated - site->freed;
  bool saved = wide->epoch == count_shared.epoch;
  return (struct truth){
      .allocations = wide->allocations + site->allocated / SITE_CALL,
      .frees = wide->frees + site->freed / SITE_CALL,
      .temporaries = wide->temporaries + site->temporaries,
      .allocated_bytes = wide->allocated_bytes + site->allocated % SITE_CALL,
      .freed_bytes = wide->freed_bytes + site->freed % SITE_CALL,
      .peak_bytes =
          site_word_bytes(peak) + (saved ? wide->peak_bytes : (int64_t)(wide->allocated_bytes - wide->freed_bytes)),
      .peak_blocks = site_word_calls(peak) + (saved ? wide->peak_blocks : (int64_t)(wide->allocations - wide->frees)),
  };
}

static bool is_true(site_id id, const struct truth *truth) {
  struct truth said = read_site(id);
  return memcmp(&said, truth, sizeof said) == 0;
}

static void peak_now(struct truth *truth) {
  count_shared.epoch++;
  truth->peak_bytes = (int64_t)(truth->allocated_bytes - truth->freed_bytes);
  truth->peak_blocks = (int64_t)(truth->allocations - truth->frees);
}

static void allocate(site_id id, struct truth *truth, size_t size_bytes) {
  count_site_alloc_alone(site_at(id), size_bytes);
  truth->allocations++;
  truth->allocated_bytes += size_bytes;
}

static void release(site_id id, struct truth *truth, size_t size_bytes, bool temporary) {
  count_site_free_alone(site_at(id), size_bytes, temporary);
  truth->frees++;
  truth->freed_bytes += size_bytes;
  truth->temporaries += temporary;
}

static void small_sites_need_no_more(void) {
  site_id site = {1};
  struct truth truth = {0};
  for (int i = 0; i < 1000; i++) allocate(site, &truth, 1000);
  for (int i = 0; i < 1000; i++) release(site, &truth, 1000, i % 2);
  truth.peak_bytes = truth.peak_blocks = 0; // none but the beginning
  EXPECT(is_true(site, &truth) && !site_wide(site));
}

// Each word at its last value and one beyond.
static void words_carry(void) {
  site_id calls = {2}, bytes = {3}, large = {4};
  struct truth truth = {0};
  for (uint32_t i = 0; i < SITE_CALLS_MOST; i++) allocate(calls, &truth, 0);
  EXPECT(is_true(calls, &truth) && !site_wide(calls));
  allocate(calls, &truth, 0);
  EXPECT(is_true(calls, &truth) && site_wide(calls));
  truth = (struct truth){0};
  allocate(bytes, &truth, SITE_BYTES_MOST);
  EXPECT(is_true(bytes, &truth) && !site_wide(bytes));
  allocate(bytes, &truth, 1);
  EXPECT(is_true(bytes, &truth) && site_wide(bytes));
  release(bytes, &truth, SITE_BYTES_MOST, true);
  release(bytes, &truth, 1, false);
  EXPECT(is_true(bytes, &truth));
  truth = (struct truth){0};
  allocate(large, &truth, SITE_BYTES_MOST + 1ul);
  allocate(large, &truth, 1ul << 40);
  release(large, &truth, 1ul << 40, true);
  EXPECT(is_true(large, &truth));
}

// Beyond 32 bits of calls and of bytes.
static void counters_go_on_for_days(void) {
  site_id site = {5};
  struct truth truth = {0};
  struct site_change change = {.allocations = 1ull << 33,
                               .allocated_bytes = 1ull << 45,
                               .frees = 1ull << 32,
                               .freed_bytes = 1ull << 44,
                               .temporaries = 1ull << 31};
  for (int i = 0; i < 8; i++) {
    count_site_change(site_at(site), &change);
    allocate(site, &truth, 24);
    release(site, &truth, 24, true);
  }
  truth.allocations += 8 * change.allocations, truth.allocated_bytes += 8 * change.allocated_bytes;
  truth.frees += 8 * change.frees, truth.freed_bytes += 8 * change.freed_bytes;
  truth.temporaries += 8 * change.temporaries;
  EXPECT(is_true(site, &truth));
  EXPECT(truth.allocations > UINT32_MAX && truth.allocated_bytes > UINT32_MAX && truth.temporaries > UINT32_MAX);
}

// Deltas of threads that are small, of which what was live at the peak adds up to more than a word holds.
static void peaks_go_on_too(void) {
  static const struct site_change changes[] = {{.peak_bytes = 700000, .peak_blocks = 1},
                                               {.peak_bytes = -1000000, .peak_blocks = 1},
                                               {.peak_bytes = 1, .peak_blocks = 700},
                                               {.peak_bytes = 1, .peak_blocks = -900}};
  site_id site = {5};
  struct truth truth = read_site(site);
  for (int i = 0; i < 40; i++) {
    const struct site_change *change = &changes[i / 10];
    if (i % 10 == 0) peak_now(&truth);
    count_site_change(site_at(site), change);
    truth.peak_bytes += change->peak_bytes, truth.peak_blocks += change->peak_blocks;
    EXPECT(is_true(site, &truth));
  }
}

// Calls of all sizes with peaks in between, and differences below 0: blocks freed unseen, pieces lent.
static void any_order_adds_up(void) {
  static const size_t sizes[] = {0, 1, 100, 5000, SITE_BYTES_MOST - 1, SITE_BYTES_MOST, 1u << 20, 3ul << 31};
  static struct truth truths[SITES];
  srand(18);
  for (int i = 0; i < 1000000; i++) {
    uint32_t number = 6 + (uint32_t)rand() % 10, what = (uint32_t)rand() % 1000;
    size_t size_bytes = sizes[(uint32_t)rand() % (number < 8 ? 8 : number < 11 ? 4 : 2)];
    struct truth *truth = &truths[number];
    if (what == 0)
      for (int site = 6; site < SITES; site++) peak_now(&truths[site]);
    if (what < 10) {
      struct site_change lent = {.freed_bytes = what % 2 ? -(uint64_t)size_bytes : size_bytes};
      count_site_change(site_at((site_id){number}), &lent);
      truth->freed_bytes += lent.freed_bytes;
    } else if (what < 500) {
      allocate((site_id){number}, truth, size_bytes);
    } else {
      release((site_id){number}, truth, size_bytes, what % 3 == 0);
    }
    if (i % 1000 == 0) EXPECT(is_true((site_id){number}, truth));
  }
  for (uint32_t site = 6; site < SITES; site++) EXPECT(is_true((site_id){site}, &truths[site]));
}

static void full_deltas_are_folded(void) {
  static struct count count;
  site_id site = {5};
  struct count_entry *entry = count_entry_of(&count, site);
  entry->allocations = (1u << 31) - 1;
  EXPECT(count_entry_of(&count, site) == entry && entry->allocations == (1u << 31) - 1);
  entry->allocations++;
  entry->frees = 7;
  EXPECT(count_entry_of(&count, site) == entry && entry->allocations == 0 && entry->site == 5);
  EXPECT(folded.site == 5 && folded.allocations == 1u << 31 && folded.frees == 7);
  entry->frees = 1u << 31; // of blocks that other threads allocated
  EXPECT(count_entry_of(&count, site)->frees == 0 && folded.frees == 1u << 31);
}

int main(void) {
  if (!site_counters_init(SITES)) return 2;
  small_sites_need_no_more();
  words_carry();
  counters_go_on_for_days();
  peaks_go_on_too();
  any_order_adds_up();
  full_deltas_are_folded();
  return failures != 0;
}
