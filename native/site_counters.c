#include "site_counters.h"

#include "sys.h"

static struct site_wide *wides; // [1, wide_count)
static uint32_t *wide_of;       // by site: index in `wides`, 0: none
static uint32_t wide_count = 1;

// A site has one wide record at most, and 0 is none's.
static size_t wides_bytes(uint32_t sites_max) { return (sites_max + 1ul) * sizeof *wides; }

bool site_counters_init(uint32_t sites_max) {
  wides = sys_map(wides_bytes(sites_max));
  wide_of = sys_map(sites_max * sizeof *wide_of);
  return wides && wide_of;
}

void site_counters_shrink_locked(uint32_t sites_max, uint32_t kept) {
  sys_trim(wides, wides_bytes(sites_max), wides_bytes(kept));
  sys_trim(wide_of, sites_max * sizeof *wide_of, kept * sizeof *wide_of);
}

const struct site_wide *site_wide(site_id id) {
  uint32_t index = __atomic_load_n(&wide_of[id.value], __ATOMIC_ACQUIRE);
  return index ? &wides[index] : NULL;
}

// The epoch is the site's own: with several threads a new one may have begun since the site was touched.
static struct site_wide *wide_touched(const struct site *site) {
  uint32_t *index = &wide_of[site - site_table];
  if (!*index) __atomic_store_n(index, __atomic_fetch_add(&wide_count, 1, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
  struct site_wide *wide = &wides[*index];
  if (wide->epoch == site->epoch) return wide;
  wide->peak_bytes = (int64_t)(wide->allocated_bytes - wide->freed_bytes);
  wide->peak_blocks = (int64_t)(wide->allocations - wide->frees);
  wide->epoch = site->epoch;
  return wide;
}

HT_NOINLINE void site_carry(struct site *site) {
  struct site_wide *wide = wide_touched(site);
  wide->allocations += site->allocated / SITE_CALL;
  wide->frees += site->freed / SITE_CALL;
  wide->temporaries += site->temporaries;
  wide->allocated_bytes += site->allocated % SITE_CALL;
  wide->freed_bytes += site->freed % SITE_CALL;
  site->allocated = site->freed = site->temporaries = 0;
}

static void add_wide(const struct site *site, const struct site_change *change) {
  struct site_wide *wide = wide_touched(site);
  wide->allocations += change->allocations;
  wide->frees += change->frees;
  wide->temporaries += change->temporaries;
  wide->allocated_bytes += change->allocated_bytes;
  wide->freed_bytes += change->freed_bytes;
  wide->peak_bytes += change->peak_bytes;
  wide->peak_blocks += change->peak_blocks;
}

static bool change_fits(const struct site *site, const struct site_change *change) {
  int64_t peak_bytes = site_word_bytes(site->peak) + change->peak_bytes;
  int64_t peak_blocks = site_word_calls(site->peak) + change->peak_blocks;
  uint64_t calls = change->allocations | change->frees | change->temporaries;
  return calls <= SITE_CALLS_MOST && (change->allocated_bytes | change->freed_bytes) <= SITE_BYTES_MOST &&
         peak_bytes >= -(int64_t)SITE_BYTES_MOST && peak_bytes <= SITE_BYTES_MOST &&
         peak_blocks >= -(int64_t)SITE_CALLS_MOST && peak_blocks <= SITE_CALLS_MOST;
}

static uint32_t word(uint64_t calls, uint64_t bytes) { return (uint32_t)calls * SITE_CALL + (uint32_t)bytes; }

// Of two words that are not full the sum has room in its word.
void site_add(struct site *site, const struct site_change *change) {
  if (unlikely(!change_fits(site, change))) return add_wide(site, change);
  site->allocated += word(change->allocations, change->allocated_bytes);
  site->freed += word(change->frees, change->freed_bytes);
  site->temporaries += (uint16_t)change->temporaries;
  site->peak += word((uint64_t)change->peak_blocks, (uint64_t)change->peak_bytes);
  bool full = (site->allocated | site->freed) & SITE_WORD_FULL || site->temporaries > SITE_CALLS_MOST;
  if (unlikely(full)) site_carry(site);
}
