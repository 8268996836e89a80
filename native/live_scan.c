// The live map as the leak scan sees it: every block in turn, the block around an address, two marks a block.
#include "live.h"
#include "resident.h"
#include "sys.h"

// Blocks longer than this are found by binary search, shorter ones by walking back over empty entries.
#define BIG_BYTES 65536u

#define PAGE_SHIFT 12
#define LEAF_PAGES (LIVE_LEAF_ENTRIES * sizeof(uint32_t) >> PAGE_SHIFT)
#define PAGE_ENTRIES ((1u << PAGE_SHIFT) / sizeof(uint32_t))

// What the scan keeps about a leaf.
struct leaf_marks {
  uint64_t bits[LIVE_LEAF_ENTRIES / 32]; // two a granule
  uint8_t pages[LEAF_PAGES];             // 1: entries were ever written there; reading the others would map them
};

static struct leaf_marks *marks[LIVE_LEAVES];
static struct block *big_blocks; // by address
static size_t big_count, big_capacity;

static struct block block_of(uintptr_t start, uint32_t entry) {
  return (struct block){start, live_entry_size(start, entry, live_side_read), {entry >> LIVE_SLACK_BITS}};
}

static uintptr_t leaf_start(size_t leaf) { return (uintptr_t)leaf << LIVE_LEAF_SHIFT; }

static bool page_each(size_t leaf, size_t page, bool (*visit)(const struct block *, void *), void *context) {
  const uint32_t *entries = live_leaves[leaf];
  for (size_t i = page * PAGE_ENTRIES; i < (page + 1) * PAGE_ENTRIES; i += 4) {
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

void live_each(bool (*visit)(const struct block *, void *), void *context) {
  for (uint32_t i = 0; i < live_leaf_count; i++) {
    uint32_t leaf = live_leaf_order[i];
    for (size_t page = 0; marks[leaf] && page < LEAF_PAGES; page++)
      if (marks[leaf]->pages[page] && !page_each(leaf, page, visit, context)) return;
  }
}

void live_bounds(uintptr_t *low, uintptr_t *high) {
  *low = live_leaf_count ? leaf_start(live_leaf_order[0]) : 0;
  *high = live_leaf_count ? leaf_start(live_leaf_order[live_leaf_count - 1] + 1) : 0;
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

// Few and nearly in order: the heap grows up.
static void leaves_sort(void) {
  for (uint32_t i = 1; i < live_leaf_count; i++) {
    uint32_t leaf = live_leaf_order[i], at = i;
    for (; at > 0 && live_leaf_order[at - 1] > leaf; at--) live_leaf_order[at] = live_leaf_order[at - 1];
    live_leaf_order[at] = leaf;
  }
}

static bool marks_map(uint32_t leaf) {
  if (!live_leaves[leaf]) return true;
  marks[leaf] = sys_map(sizeof *marks[leaf]);
  if (!marks[leaf]) return false;
  uintptr_t start = (uintptr_t)live_leaves[leaf], end = start + LIVE_LEAF_ENTRIES * sizeof(uint32_t);
  for (uintptr_t at = start, run_end; resident_next(&at, &run_end, end, false); at = run_end)
    for (size_t page = (at - start) >> PAGE_SHIFT; page < (run_end - start) >> PAGE_SHIFT; page++)
      marks[leaf]->pages[page] = 1;
  return true;
}

bool live_scan_begin(void) {
  bool ok = true;
  leaves_sort();
  for (uint32_t i = 0; i < live_leaf_count; i++) ok &= marks_map(live_leaf_order[i]);
  big_count = 0;
  if (ok) live_each(big_add, &ok);
  if (!ok) live_scan_end();
  return ok;
}

void live_scan_end(void) {
  for (uint32_t i = 0; i < live_leaf_count; i++) {
    uint32_t leaf = live_leaf_order[i];
    if (marks[leaf]) sys_unmap(marks[leaf], sizeof *marks[leaf]);
    marks[leaf] = NULL;
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

bool live_find(uintptr_t address, struct block *block) {
  if (address >> 47) return false;
  size_t leaf = address >> LIVE_LEAF_SHIFT;
  uintptr_t granule = address & ~15ul, stop = granule > BIG_BYTES ? granule - BIG_BYTES : 0;
  const uint32_t *entries = live_leaves[leaf];
  while (entries) {
    size_t at = (granule >> 4) & (LIVE_LEAF_ENTRIES - 1);
    while (at > 0 && !entries[at] && granule > stop) at--, granule -= 16;
    if (entries[at]) {
      *block = block_of(granule, entries[at]);
      return block_holds(block, address) || big_find(address, block);
    }
    if (granule <= stop || leaf == 0) break;
    entries = live_leaves[--leaf];
    granule -= 16;
  }
  return big_find(address, block);
}

static uint64_t *mark_word(uintptr_t start, int which, uint64_t *bit) {
  struct leaf_marks *leaf = marks[(start >> LIVE_LEAF_SHIFT) & (LIVE_LEAVES - 1)];
  size_t index = ((start >> 4) & (LIVE_LEAF_ENTRIES - 1)) * 2 + (size_t)which;
  *bit = 1ull << (index & 63);
  return leaf ? &leaf->bits[index >> 6] : NULL;
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
