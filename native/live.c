#include "live.h"

#include "lock.h"
#include "sys.h"

uint32_t *live_leaves[LIVE_LEAVES]; // 32 MiB of address space, touched only where blocks are
uint32_t live_leaf_order[LIVE_LEAVES_LISTED];
uint32_t live_leaf_count;
size_t (*live_usable_call)(void *block);
bool live_usable_glibc, live_wide, live_partial;
size_t live_mapped_flag = CHUNK_MAPPED;

bool live_init(size_t (*usable_size)(void *), bool is_glibc) {
  live_usable_call = usable_size;
  live_usable_glibc = live_wide = is_glibc;
  return true;
}

uint32_t *live_leaf_make(uintptr_t address) {
  uint32_t **slot = &live_leaves[(address >> LIVE_LEAF_SHIFT) & (LIVE_LEAVES - 1)];
  uint32_t *leaf = sys_map(LIVE_LEAF_ENTRIES * sizeof *leaf), *expected = NULL;
  if (!leaf) return *slot;
  if (__atomic_compare_exchange_n(slot, &expected, leaf, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    uint32_t place = __atomic_fetch_add(&live_leaf_count, 1, __ATOMIC_ACQ_REL);
    if (place < LIVE_LEAVES_LISTED) live_leaf_order[place] = (uint32_t)(slot - live_leaves);
    return leaf;
  }
  sys_unmap(leaf, LIVE_LEAF_ENTRIES * sizeof *leaf);
  return expected;
}

uint32_t live_put_narrow(uintptr_t start, size_t size_bytes, site_id site) {
  return live_put_as(start, size_bytes, site, false);
}

bool live_take_narrow(uintptr_t start, struct block *taken) { return live_take_as(start, taken, false); }

void live_put_foreign(uintptr_t start, size_t size_bytes, site_id site) {
  uint32_t *entry = live_entry_make(start, live_wide);
  if (unlikely(!entry)) return;
  live_side_put(start, size_bytes);
  live_entry_set(entry, start, site, live_slack_side(live_wide), live_wide);
}

// ---- the side table: start -> size, open addressing with backward shift, under one lock

struct side_entry {
  uintptr_t start;
  size_t size_bytes;
};
static struct side_entry *side;
static size_t side_mask, side_used;
static struct lock side_lock = LOCK_INIT(LOCK_RANK_BIG);

struct lock *live_lock(void) {
  return &side_lock;
}

static size_t side_home(uintptr_t start) { return ((start >> 4) * 0x9E3779B97F4A7C15ull) >> 20 & side_mask; }

static size_t side_slot(uintptr_t start) {
  size_t at = side_home(start);
  while (side[at].start && side[at].start != start) at = (at + 1) & side_mask;
  return at;
}

static bool side_grow(void) {
  struct side_entry *old = side;
  size_t old_count = side ? side_mask + 1 : 0, count = old_count ? old_count * 2 : 512;
  struct side_entry *larger = sys_map(count * sizeof *larger);
  if (!larger) return side && side_used < side_mask;
  side = larger;
  side_mask = count - 1;
  for (size_t i = 0; i < old_count; i++)
    if (old[i].start) side[side_slot(old[i].start)] = old[i];
  if (old) sys_unmap(old, old_count * sizeof *old);
  return true;
}

void live_side_put(uintptr_t start, size_t size_bytes) {
  lock_take(&side_lock);
  if (side_used * 4 < side_mask * 3 || side_grow()) {
    struct side_entry *entry = &side[side_slot(start)];
    if (!entry->start) side_used++;
    *entry = (struct side_entry){start, size_bytes};
  }
  lock_drop(&side_lock);
}

size_t live_side_peek(uintptr_t start) {
  lock_take(&side_lock);
  size_t size_bytes = 0;
  if (side) {
    size_t at = side_slot(start);
    if (side[at].start) size_bytes = side[at].size_bytes;
  }
  lock_drop(&side_lock);
  return size_bytes;
}

static void side_close_gap(size_t gap) {
  for (size_t at = (gap + 1) & side_mask; side[at].start; at = (at + 1) & side_mask) {
    size_t home = side_home(side[at].start);
    if (((at - home) & side_mask) < ((at - gap) & side_mask)) continue;
    side[gap] = side[at];
    gap = at;
  }
  side[gap].start = 0;
}

size_t live_side_take(uintptr_t start) {
  lock_take(&side_lock);
  size_t size_bytes = 0;
  if (side) {
    size_t at = side_slot(start);
    if (side[at].start) {
      size_bytes = side[at].size_bytes;
      side_used--;
      side_close_gap(at);
    }
  }
  lock_drop(&side_lock);
  return size_bytes;
}

size_t live_side_read(uintptr_t start) {
  if (!side) return 0;
  size_t at = side_slot(start);
  return side[at].start ? side[at].size_bytes : 0;
}
