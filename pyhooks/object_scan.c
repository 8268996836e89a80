#include "object_scan.h"

#include <string.h>

#include "../native/core.h"
#include "../native/growing.h"
#include "../native/live.h"
#include "../native/ranges.h"
#include "../native/sys.h"
#include "arenas.h"
#include "object_count.h"
#include "object_garbage.h"
#include "object_links.h"
#include "object_map.h"
#include "plain_object.h"

// Blocks that are nobody's leak: the parent's, those of the interpreter's start-up, frame stacks, and what is left
// after the interpreter was taken down. Site 0 is below every process's own sites, which makes them roots as inherited
// blocks are.
#define SITE_NONE ((site_id){0})

// Leaks as they were when the interpreter ended, and its blocks are no matter any more.
static struct scan_leak *kept;
static uint32_t kept_count, kept_capacity;
static bool ended;

static site_id site_of_pair(uint32_t pair) {
  if (ended || pair < pair_frozen || pair < pair_program) return SITE_NONE;
  return line_table[pair_lines[pair].value].site;
}

// An arena from before an attach is a root itself: whatever lies there may be in use.
static struct block block_of(uintptr_t start, uint32_t pair) {
  bool judged = !object_map_has_any_memory() || arenas_contain(start);
  return (struct block){start, pair_table[pair].size_bytes, judged ? site_of_pair(pair) : SITE_NONE};
}

// Bits of the addresses that stand for a leak kept from before, see below.
#define KEPT_BLOCK (1ul << 62)
#define KEPT_INDIRECT (1ul << 61)

// ---- marks: two bits for each 16 bytes, one reservation for each leaf of the object map

#define MARKS_LEAF_BYTES ((size_t)1 << (OBJECT_LEAF_BITS - 4 - 2))
#define LEAVES (sizeof object_leaves / sizeof *object_leaves)
static uint8_t *marks[LEAVES];
static uint8_t chunk_marks[ARENA_CHUNKS_MAX];

static void marks_drop(void) {
  for (size_t i = 0; i < LEAVES; i++) {
    if (marks[i]) sys_unmap(marks[i], MARKS_LEAF_BYTES);
    marks[i] = NULL;
  }
}

static bool scan_begin(void) {
  memset(chunk_marks, 0, sizeof chunk_marks);
  for (size_t i = 0; i < LEAVES; i++) {
    if (!object_leaves[i]) continue;
    marks[i] = sys_map(MARKS_LEAF_BYTES);
    if (!marks[i]) return marks_drop(), false;
  }
  object_links_hide();
  return arenas_scan_begin();
}

static void scan_end(void) {
  object_links_show();
  marks_drop();
}

// The byte and the bit that hold mark `which` of the small object at `start`.
static uint8_t *mark_of_object(uintptr_t start, int which, uint8_t *bit) {
  size_t granule = (start & ((1ull << OBJECT_LEAF_BITS) - 1)) >> 4;
  *bit = (uint8_t)(1 << ((granule & 3) * 2 + (size_t)which));
  return &marks[start >> OBJECT_LEAF_BITS][granule >> 2];
}

// The same of any block at `start`; NULL: none of ours.
static uint8_t *mark_place(uintptr_t start, int which, uint8_t *bit) {
  uintptr_t chunk_start, chunk_end;
  uint32_t chunk;
  if (arenas_chunk_find(start, &chunk_start, &chunk_end, &chunk))
    return *bit = (uint8_t)(1 << which), &chunk_marks[chunk];
  if (start >> OBJECT_ADDRESS_BITS || !marks[start >> OBJECT_LEAF_BITS]) return NULL;
  return mark_of_object(start, which, bit);
}

static bool scan_mark(uintptr_t start, int which) {
  uint8_t bit, *place = mark_place(start, which, &bit);
  if (!place || *place & bit) return true;
  *place |= bit;
  return false;
}

static bool scan_marked(uintptr_t start, int which) {
  if (start & KEPT_BLOCK) return which == 1 && start & KEPT_INDIRECT;
  uint8_t bit, *place = mark_place(start, which, &bit);
  return place && *place & bit;
}

// ---- blocks

// What is garbage is held by nobody, whatever points to it.
static bool scan_find(uintptr_t address, struct block *block) {
  uintptr_t start, end;
  uint32_t pair, chunk;
  if ((start = object_map_find(address, &pair))) {
    *block = block_of(start, pair);
    if (address == start || address < start + block->size_bytes) return !object_garbage_has(start);
  }
  if (!arenas_chunk_find(address, &start, &end, &chunk)) return false;
  *block = (struct block){start, end - start, SITE_NONE};
  return true;
}

// Objects are never in a frame stack's chunk.
static enum block_point scan_point(uintptr_t address, int which, uintptr_t self, struct block *block) {
  const uint64_t *descriptor = object_descriptor(address, object_page_bits);
  if (!descriptor || !*descriptor) return BLOCK_ELSEWHERE;
  uint32_t pair;
  uintptr_t start = object_map_find_in(*descriptor, address, &pair);
  if (!start) return BLOCK_NOTHING;
  uint8_t bit, reached, *place = mark_of_object(start, which, &bit);
  mark_of_object(start, 0, &reached);
  if (*place & (bit | reached)) return BLOCK_NOTHING;
  *block = block_of(start, pair);
  if ((address != start && address >= start + block->size_bytes) || object_garbage_has(start)) return BLOCK_NOTHING;
  if (which != 0 && start == self) return BLOCK_NOTHING;
  *place |= bit;
  return which == 0 ? BLOCK_REACHED : BLOCK_NOTHING;
}

struct visit {
  bool (*visit)(const struct block *block, void *context);
  void *context;
};

static bool visit_object(uintptr_t start, uint32_t pair, void *context) {
  const struct visit *visit = context;
  struct block block = block_of(start, pair);
  return visit->visit(&block, visit->context);
}

// ---- leaks that were kept. The scan is told of blocks that have their number, their bytes
// and their site; their addresses are no memory.

void object_scan_keep(const struct scan_result *result) {
  ended = true;
  kept_count = 0; // those kept before were found again
  if (!growing_reserve((void **)&kept, &kept_capacity, result->leak_count + 1, sizeof *kept)) return;
  for (uint32_t i = 0; i < result->leak_count; i++) {
    const struct site *site = site_at(result->leaks[i].site);
    if (site->kind == HT_KIND_PYTHON && !(site->flags & SITE_OF_START)) kept[kept_count++] = result->leaks[i];
  }
}

void object_scan_begin_again(void) { ended = false; }

static bool kept_each(site_id site, uint64_t bytes, uint64_t blocks, uintptr_t start, const struct visit *visit) {
  for (uint64_t i = 0; i < blocks; i++) {
    uint64_t size_bytes = i == 0 ? bytes - bytes / blocks * (blocks - 1) : bytes / blocks;
    struct block block = {start | i, size_bytes, site};
    if (!visit->visit(&block, visit->context)) return false;
  }
  return true;
}

static void scan_each(bool (*visit)(const struct block *, void *), void *context) {
  struct visit each = {visit, context};
  for (uint32_t i = 0; i < kept_count; i++) {
    const struct scan_leak *leak = &kept[i];
    if (!kept_each(leak->site, leak->direct_bytes, leak->direct_blocks, KEPT_BLOCK, &each) ||
        !kept_each(leak->site, leak->indirect_bytes, leak->indirect_blocks, KEPT_BLOCK | KEPT_INDIRECT, &each))
      return;
  }
  if (ended || !object_links_hidden()) return;
  object_map_each(visit_object, &each);
  object_garbage_each_big(visit, context);
}

static bool is_block_start(uintptr_t address) {
  struct block block;
  const struct range *range = range_find(address);
  if (range && range->start == address) return true;
  return (live_find(address, &block) || scan_find(address, &block)) && block.start == address;
}

// Links that are no references are hidden instead, see object_links.h. Of kept leaks there is nothing to read. What
// looks like a number all through may be a struct of C's that ends in a pointer: then that leads to where a block
// starts.
static size_t scan_skip(const struct block *block) {
  if (block->start & KEPT_BLOCK) return block->size_bytes;
  size_t plain_bytes = plain_object_bytes(block->start, block->size_bytes);
  if (plain_bytes < block->size_bytes || plain_bytes % sizeof(uintptr_t)) return plain_bytes;
  uintptr_t end = block->start + block->size_bytes, word = ((const uintptr_t *)end)[-1];
  return is_block_start(word) ? plain_bytes - sizeof word : plain_bytes;
}

void object_scan_init(void) {
  static const struct block_source source = {scan_point,  scan_find,  scan_each, scan_mark,
                                             scan_marked, scan_begin, scan_end,  scan_skip};
  ht_add_block_source(&source);
}
