// The live map as the leak scan sees it: every block in turn, the block around an address, two marks a block.
//
// A bitmap says where blocks start, one bit a granule, with three more levels of one bit for 64 below, so that the
// last start before an address is found in a few steps however large the block is. Only when a block is first
// reached are its entry and its size looked at; a pointer to a block that is marked already costs two bits.
#include "live.h"
#include "resident.h"
#include "sys.h"

#define PAGE_SHIFT 12
#define PAGE_ENTRIES ((1u << PAGE_SHIFT) / sizeof(uint32_t))
#define WORDS (LIVE_LEAF_ENTRIES / 64)
#define NONE UINT32_MAX

// 64 granules: where blocks start, which of these start in the upper half (live.h), and their marks. Together, since a
// pointer asks for all.
struct stretch {
  uint64_t starts, upper, reached, indirect;
};

// What the scan keeps about a leaf.
struct leaf_scan {
  struct stretch stretches[WORDS];
  uint64_t starts_64[WORDS / 64];     // which stretches have a start
  uint64_t starts_4096[WORDS / 4096]; // which words of `starts_64` are not 0
  uint64_t any;                       // which words of `starts_4096` are not 0
  uint32_t previous;                  // the next leaf below that has blocks; NONE: this is the lowest
};

static struct leaf_scan **scans; // by leaf, LIVE_LEAVES of them, during a scan
#define SCANS_BYTES (LIVE_LEAVES * sizeof *scans)

static uintptr_t leaf_start(size_t leaf) { return (uintptr_t)leaf << LIVE_LEAF_SHIFT; }
static size_t leaf_of(uintptr_t address) { return (address >> LIVE_LEAF_SHIFT) & (LIVE_LEAVES - 1); }
static bool bit_is(uint64_t bits, uint32_t number) { return bits >> number % 64 & 1; }

// Of the block that starts in this granule; `upper`: in its upper half.
static uintptr_t start_in(size_t leaf, size_t granule, bool upper) {
  return leaf_start(leaf) + (granule << (4 + live_wide)) + upper * 16ul;
}

static uintptr_t granule_start(size_t leaf, uint32_t granule) {
  return start_in(leaf, granule, bit_is(scans[leaf]->stretches[granule / 64].upper, granule));
}

static bool entry_is_upper(uint32_t entry) { return entry >> 5 & live_wide; }

static struct block block_of(uintptr_t start, uint32_t entry) {
  return (struct block){start, live_entry_size(start, entry, live_wide, live_side_read), {entry >> LIVE_SLACK_BITS}};
}

// ---- begin and end

// Few and nearly in order: the heap grows up.
static void leaves_sort(void) {
  for (uint32_t i = 1; i < live_leaf_count; i++) {
    uint32_t leaf = live_leaf_order[i], at = i;
    for (; at > 0 && live_leaf_order[at - 1] > leaf; at--) live_leaf_order[at] = live_leaf_order[at - 1];
    live_leaf_order[at] = leaf;
  }
}

static void start_note(struct leaf_scan *scan, uint32_t granule, uint32_t entry) {
  scan->stretches[granule / 64].starts |= 1ull << granule % 64;
  scan->stretches[granule / 64].upper |= (uint64_t)entry_is_upper(entry) << granule % 64;
  scan->starts_64[granule / 4096] |= 1ull << granule / 64 % 64;
  scan->starts_4096[granule / 262144] |= 1ull << granule / 4096 % 64;
  scan->any |= 1ull << granule / 262144;
}

static void page_note(struct leaf_scan *scan, const uint32_t *entries, size_t page) {
  for (size_t i = page * PAGE_ENTRIES; i < (page + 1) * PAGE_ENTRIES; i += 4) {
    const uint64_t *pair = (const uint64_t *)(entries + i);
    if (!(pair[0] | pair[1])) continue;
    for (size_t j = i; j < i + 4; j++)
      if (entries[j]) start_note(scan, (uint32_t)j, entries[j]);
  }
}

static bool leaf_scan_map(uint32_t leaf) {
  struct leaf_scan *scan = scans[leaf] = sys_map(sizeof *scan);
  if (!scan) return false;
  // Pages of entries that were never written are left alone: reading would map them.
  uintptr_t start = (uintptr_t)live_leaves[leaf], end = start + LIVE_LEAF_ENTRIES * sizeof(uint32_t);
  for (uintptr_t at = start, run_end; resident_next(&at, &run_end, end, false); at = run_end)
    for (size_t page = (at - start) >> PAGE_SHIFT; page < (run_end - start) >> PAGE_SHIFT; page++)
      page_note(scan, live_leaves[leaf], page);
  return true;
}

bool live_scan_begin(void) {
  uint32_t previous = NONE;
  if (live_leaf_count > LIVE_LEAVES_LISTED) live_leaf_count = LIVE_LEAVES_LISTED;
  if (!(scans = sys_map(SCANS_BYTES))) return false;
  leaves_sort();
  for (uint32_t i = 0; i < live_leaf_count; i++) {
    uint32_t leaf = live_leaf_order[i];
    if (!live_leaves[leaf]) continue;
    if (!leaf_scan_map(leaf)) return live_scan_end(), false;
    scans[leaf]->previous = previous;
    if (scans[leaf]->any) previous = leaf;
  }
  return true;
}

void live_scan_end(void) {
  for (uint32_t i = 0; scans && i < live_leaf_count; i++) {
    uint32_t leaf = live_leaf_order[i];
    if (scans[leaf]) sys_unmap(scans[leaf], sizeof *scans[leaf]);
  }
  if (scans) sys_unmap(scans, SCANS_BYTES);
  scans = NULL;
}

void live_bounds(uintptr_t *low, uintptr_t *high) {
  *low = live_leaf_count ? leaf_start(live_leaf_order[0]) : 0;
  *high = live_leaf_count ? leaf_start(live_leaf_order[live_leaf_count - 1] + 1) : 0;
}

// ---- every block

static bool word_each(size_t leaf, size_t word, uint64_t bits, bool (*visit)(const struct block *, void *),
                      void *context) {
  for (; bits; bits &= bits - 1) {
    uint32_t granule = (uint32_t)(word * 64 + (size_t)__builtin_ctzll(bits));
    struct block block = block_of(granule_start(leaf, granule), live_leaves[leaf][granule]);
    if (!visit(&block, context)) return false;
  }
  return true;
}

static bool leaf_each(size_t leaf, bool unreached, bool (*visit)(const struct block *, void *), void *context) {
  const struct leaf_scan *scan = scans[leaf];
  for (size_t upper = 0; upper < WORDS / 64; upper++)
    for (uint64_t words = scan->starts_64[upper]; words; words &= words - 1) {
      size_t word = upper * 64 + (size_t)__builtin_ctzll(words);
      const struct stretch *stretch = &scan->stretches[word];
      uint64_t bits = stretch->starts & ~(unreached ? stretch->reached : 0);
      if (!word_each(leaf, word, bits, visit, context)) return false;
    }
  return true;
}

static void leaves_each(bool unreached, bool (*visit)(const struct block *, void *), void *context) {
  for (uint32_t i = 0; i < live_leaf_count; i++) {
    uint32_t leaf = live_leaf_order[i];
    if (scans[leaf] && !leaf_each(leaf, unreached, visit, context)) return;
  }
}

void live_each(bool (*visit)(const struct block *, void *), void *context) { leaves_each(false, visit, context); }
void live_each_unreached(bool (*visit)(const struct block *, void *), void *context) {
  leaves_each(true, visit, context);
}

static bool page_walk(uint32_t leaf, size_t page, bool (*visit)(const struct block *, void *), void *context) {
  const uint32_t *entries = live_leaves[leaf];
  for (size_t i = page * PAGE_ENTRIES; i < (page + 1) * PAGE_ENTRIES; i++) {
    if (!entries[i]) continue;
    struct block block = block_of(start_in(leaf, i, entry_is_upper(entries[i])), entries[i]);
    if (!visit(&block, context)) return false;
  }
  return true;
}

static bool leaf_walk(uint32_t leaf, bool (*visit)(const struct block *, void *), void *context) {
  uintptr_t start = (uintptr_t)live_leaves[leaf], end = start + LIVE_LEAF_ENTRIES * sizeof(uint32_t);
  for (uintptr_t at = start, run_end; resident_next(&at, &run_end, end, false); at = run_end)
    for (size_t page = (at - start) >> PAGE_SHIFT; page < (run_end - start) >> PAGE_SHIFT; page++)
      if (!page_walk(leaf, page, visit, context)) return false;
  return true;
}

void live_walk(bool (*visit)(const struct block *, void *), void *context) {
  resident_begin();
  for (uint32_t i = 0; i < live_leaf_count && i < LIVE_LEAVES_LISTED; i++)
    if (live_leaves[live_leaf_order[i]] && !leaf_walk(live_leaf_order[i], visit, context)) break;
  resident_end();
}

// ---- the block around an address

static uint32_t last_bit(uint64_t bits) { return 63 - (uint32_t)__builtin_clzll(bits); }
// Of `bits` those up to number `last`.
static uint64_t bits_up_to(uint64_t bits, uint32_t last) { return bits & (~0ull >> (63 - last % 64)); }
// Of `bits` those below number `end`.
static uint64_t bits_below(uint64_t bits, uint32_t end) { return bits & ((1ull << end % 64) - 1); }

// The last start at or before `granule`; NONE: none in this leaf. Up the levels until one has a bit, and down again.
static uint32_t start_before(const struct leaf_scan *scan, uint32_t granule) {
  uint64_t bits = bits_up_to(scan->stretches[granule / 64].starts, granule);
  if (bits) return granule / 64 * 64 + last_bit(bits);
  uint32_t word = granule / 64, upper = word / 64, top = upper / 64;
  if (!(bits = bits_below(scan->starts_64[upper], word))) {
    if (!(bits = bits_below(scan->starts_4096[top], upper))) {
      if (!(bits = bits_below(scan->any, top))) return NONE;
      top = last_bit(bits);
      bits = scan->starts_4096[top];
    }
    upper = top * 64 + last_bit(bits);
    bits = scan->starts_64[upper];
  }
  word = upper * 64 + last_bit(bits);
  return word * 64 + last_bit(scan->stretches[word].starts);
}

// The last leaf below `leaf` that has blocks.
static uint32_t leaf_before(size_t leaf) {
  uint32_t low = 0, high = live_leaf_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (live_leaf_order[middle] < leaf)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return NONE;
  uint32_t before = live_leaf_order[low - 1];
  return !scans[before] ? NONE : scans[before]->any ? before : scans[before]->previous;
}

// In the lower half of a granule whose block starts in the upper half.
static bool before_start(const struct leaf_scan *scan, uint32_t granule, uintptr_t address) {
  return bit_is(scan->stretches[granule / 64].upper, granule) && !(address & 16);
}

static uint32_t start_in_leaf(const struct leaf_scan *scan, uintptr_t address) {
  uint32_t granule = live_granule(address);
  if (!before_start(scan, granule, address)) return start_before(scan, granule);
  return granule > 0 ? start_before(scan, granule - 1) : NONE;
}

// The last start at or before `address`; 0: there is none.
static uintptr_t start_find(uintptr_t address) {
  size_t leaf = leaf_of(address);
  const struct leaf_scan *scan = scans[leaf];
  uint32_t granule = scan ? start_in_leaf(scan, address) : NONE;
  if (granule == NONE) {
    leaf = scan ? scan->previous : leaf_before(leaf);
    if (leaf == NONE) return 0;
    granule = start_before(scans[leaf], LIVE_LEAF_ENTRIES - 1);
  }
  return granule_start(leaf, granule);
}

static bool holds(uintptr_t start, uintptr_t address, struct block *block) {
  *block = block_of(start, live_leaves[leaf_of(start)][live_granule(start)]);
  return address - start < block->size_bytes || address == start;
}

bool live_find(uintptr_t address, struct block *block) {
  uintptr_t start = address >> 47 ? 0 : start_find(address);
  return start && holds(start, address, block);
}

bool live_page_is_empty(uintptr_t address) {
  uintptr_t page = address & ~((1ul << PAGE_SHIFT) - 1);
  uintptr_t last = start_find(page + (1ul << PAGE_SHIFT) - 1);
  struct block block;
  return !last || (last < page && !holds(last, page, &block));
}

// ---- marks

static uint64_t *mark_word(uintptr_t start, enum live_mark which) {
  struct stretch *stretch = &scans[leaf_of(start)]->stretches[live_granule(start) / 64];
  return which == LIVE_REACHED ? &stretch->reached : &stretch->indirect;
}
static uint64_t mark_bit(uintptr_t start) { return 1ull << live_granule(start) % 64; }

bool live_marked(uintptr_t start, enum live_mark which) { return *mark_word(start, which) & mark_bit(start); }

void live_mark(uintptr_t start, enum live_mark which) { *mark_word(start, which) |= mark_bit(start); }

uintptr_t live_point(uintptr_t address, enum live_mark which) {
  struct block block;
  uintptr_t start = address >> 47 ? 0 : start_find(address);
  if (!start) return 0;
  if (live_marked(start, which) || live_marked(start, LIVE_REACHED)) return LIVE_POINT_MARKED;
  return address == start || holds(start, address, &block) ? start : 0;
}

void live_block(uintptr_t start, struct block *block) {
  *block = block_of(start, live_leaves[leaf_of(start)][live_granule(start)]);
}

void live_prefetch_marks(uintptr_t address) {
  const struct leaf_scan *scan = scans[leaf_of(address)];
  if (scan) __builtin_prefetch(&scan->stretches[live_granule(address) / 64], 1);
}

void live_prefetch(uintptr_t start) {
  __builtin_prefetch(&live_leaves[leaf_of(start)][live_granule(start)]);
  __builtin_prefetch((const void *)(start - 8));
  __builtin_prefetch((const void *)(start + 56));
}
