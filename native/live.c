#include "live.h"

#include "lock.h"
#include "sys.h"

struct live_leaf *live_leaves[LIVE_LEAVES]; // 32 MiB of address space, touched only where blocks are
size_t (*live_usable_call)(void *block);
bool live_usable_glibc;

// The leaves that exist, in the order they were made: looking through live_leaves would touch all of it.
#define LEAVES_LISTED 65536u // 2 TiB of heap
static uint32_t leaf_list[LEAVES_LISTED];
static uint32_t leaf_count;

bool live_init(size_t (*usable_size)(void *), bool is_glibc) {
  live_usable_call = usable_size;
  live_usable_glibc = is_glibc;
  return true;
}

struct live_leaf *live_leaf_make(uintptr_t address) {
  uint32_t index = (address >> LIVE_LEAF_SHIFT) & (LIVE_LEAVES - 1);
  struct live_leaf *leaf = sys_map(sizeof *leaf), *expected = NULL;
  if (!leaf) return live_leaves[index];
  if (!__atomic_compare_exchange_n(&live_leaves[index], &expected, leaf, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    sys_unmap(leaf, sizeof *leaf); // another thread was faster
    return expected;
  }
  uint32_t place = __atomic_fetch_add(&leaf_count, 1, __ATOMIC_ACQ_REL);
  if (place < LEAVES_LISTED) leaf_list[place] = index;
  return leaf;
}

// ---- the side table: start -> size, open addressing with backward shift, under one lock

struct side_entry {
  uintptr_t start;
  size_t size_bytes;
};
static struct side_entry *side;
static size_t side_mask, side_used;
static struct lock side_lock = LOCK_INIT(LOCK_RANK_BIG);

struct lock *live_lock(void) { return &side_lock; }

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

// ---- the scan's view. The caller holds every lock (or is alone), so the side table is read without taking it.

// Blocks longer than this are found by binary search, shorter ones by walking back over empty entries.
#define BIG_BYTES 65536u

static uint64_t *marks[LIVE_LEAVES]; // two bits a granule
static struct block *big_blocks;     // by address
static size_t big_count, big_capacity;

static size_t side_read(uintptr_t start) {
  if (!side) return 0;
  size_t at = side_slot(start);
  return side[at].start ? side[at].size_bytes : 0;
}

static struct block block_of(uintptr_t start, uint32_t entry) {
  return (struct block){start, live_entry_size(start, entry, side_read), {entry >> LIVE_SLACK_BITS}};
}

static uintptr_t leaf_start(size_t leaf) { return (uintptr_t)leaf << LIVE_LEAF_SHIFT; }

static bool chunk_each(size_t leaf, size_t first, bool (*visit)(const struct block *, void *), void *context) {
  const uint32_t *entries = live_leaves[leaf]->entries;
  for (size_t i = first; i < first + LIVE_CHUNK_ENTRIES; i += 4) {
    const uint64_t *pair = (const uint64_t *)(entries + i);
    if (!(pair[0] | pair[1])) continue;
    for (size_t j = i; j < i + 4; j++) {
      if (!entries[j]) continue;
      struct block block = block_of(leaf_start(leaf) + j * 16, entries[j]);
      if (!visit(&block, context)) return false;
    }
  }
  return true;
}

static void leaves_sort(void) {
  for (uint32_t i = 1; i < leaf_count; i++) {
    uint32_t leaf = leaf_list[i], at = i;
    for (; at > 0 && leaf_list[at - 1] > leaf; at--) leaf_list[at] = leaf_list[at - 1];
    leaf_list[at] = leaf;
  }
}

void live_each(bool (*visit)(const struct block *, void *), void *context) {
  leaves_sort();
  for (uint32_t i = 0; i < leaf_count; i++)
    for (size_t chunk = 0; chunk < LIVE_LEAF_CHUNKS; chunk++)
      if (live_leaves[leaf_list[i]]->chunks_used[chunk] &&
          !chunk_each(leaf_list[i], chunk * LIVE_CHUNK_ENTRIES, visit, context))
        return;
}

static bool big_add(const struct block *block, void *ok) {
  if (block->size_bytes <= BIG_BYTES) return true;
  if (big_count == big_capacity) {
    size_t capacity = big_capacity ? big_capacity * 2 : 1024;
    struct block *larger = sys_map(capacity * sizeof *larger);
    if (!larger) return *(bool *)ok = false;
    for (size_t i = 0; i < big_count; i++) larger[i] = big_blocks[i];
    if (big_blocks) sys_unmap(big_blocks, big_capacity * sizeof *big_blocks);
    big_blocks = larger;
    big_capacity = capacity;
  }
  big_blocks[big_count++] = *block;
  return true;
}

#define MARK_BYTES (LIVE_LEAF_ENTRIES / 4)

bool live_scan_begin(void) {
  bool ok = true;
  if (leaf_count > LEAVES_LISTED) leaf_count = LEAVES_LISTED;
  for (uint32_t i = 0; i < leaf_count; i++)
    if (!(marks[leaf_list[i]] = sys_map(MARK_BYTES))) ok = false;
  big_count = 0;
  if (ok) live_each(big_add, &ok);
  if (!ok) live_scan_end();
  return ok;
}

void live_scan_end(void) {
  for (uint32_t i = 0; i < leaf_count; i++) {
    uint64_t **leaf = &marks[leaf_list[i]];
    if (*leaf) sys_unmap(*leaf, MARK_BYTES);
    *leaf = NULL;
  }
  if (big_blocks) sys_unmap(big_blocks, big_capacity * sizeof *big_blocks);
  big_blocks = NULL;
  big_count = big_capacity = 0;
}

static bool block_holds(const struct block *block, uintptr_t address) {
  return address - block->start < block->size_bytes || address == block->start;
}

static bool big_find(uintptr_t address, struct block *block) {
  size_t low = 0, high = big_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (big_blocks[middle].start <= address) low = middle + 1;
    else high = middle;
  }
  if (low == 0 || !block_holds(&big_blocks[low - 1], address)) return false;
  *block = big_blocks[low - 1];
  return true;
}

// The last block that starts at or before `granule`, not before `stop`; 0: none.
static uintptr_t start_before(uintptr_t granule, uintptr_t stop) {
  const struct live_leaf *leaf = live_leaf_of(granule);
  while (leaf && granule >= stop) {
    size_t at = live_index(granule);
    if (!leaf->chunks_used[at / LIVE_CHUNK_ENTRIES]) {
      at &= ~(size_t)(LIVE_CHUNK_ENTRIES - 1);
    } else if (leaf->entries[at]) {
      return granule;
    }
    granule = (granule & ~((1ul << LIVE_LEAF_SHIFT) - 1)) + at * 16;
    if (granule < 16) return 0;
    granule -= 16;
    if (at == 0) leaf = live_leaf_of(granule);
  }
  return 0;
}

bool live_find(uintptr_t address, struct block *block) {
  if (address >> 47) return false;
  uintptr_t granule = address & ~15ul, start = start_before(granule, granule > BIG_BYTES ? granule - BIG_BYTES : 16);
  if (start) {
    *block = block_of(start, *live_entry(start));
    if (block_holds(block, address)) return true;
    if (block->size_bytes > 0 && address - start < BIG_BYTES) return false; // a big one would have come up instead
  }
  return big_find(address, block);
}

bool live_touched(uintptr_t start, uintptr_t end) {
  for (uintptr_t at = start >> LIVE_LEAF_SHIFT; at <= (end - 1) >> LIVE_LEAF_SHIFT && at < LIVE_LEAVES; at++)
    if (live_leaves[at]) return true;
  return false;
}

static uint64_t *mark_word(uintptr_t start, int which, uint64_t *bit) {
  uint64_t *leaf = marks[(start >> LIVE_LEAF_SHIFT) & (LIVE_LEAVES - 1)];
  size_t index = ((start >> 4) & (LIVE_LEAF_ENTRIES - 1)) * 2 + (size_t)which;
  *bit = 1ull << (index & 63);
  return leaf ? &leaf[index >> 6] : NULL;
}

bool live_mark(uintptr_t start, int which) {
  uint64_t bit, *word = mark_word(start, which, &bit);
  if (!word) return true;
  bool before = *word & bit;
  *word |= bit;
  return before;
}

bool live_marked(uintptr_t start, int which) {
  uint64_t bit, *word = mark_word(start, which, &bit);
  return word && (*word & bit);
}
