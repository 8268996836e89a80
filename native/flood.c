#include "flood.h"

#include <string.h>

#include "core.h"
#include "guard.h"
#include "heap_sample.h"
#include "holders.h"
#include "live.h"
#include "modules.h"
#include "ranges.h"
#include "resident.h"
#include "settled_pages.h"
#include "site.h"
#include "stack_table.h"
#include "sys.h"

#define PAGE_BYTES 4096ul
#define WORK_FIRST (1u << 14)
#define WORDS_MAX UINT32_MAX // of one entry of work: 32 GiB; longer memory takes several

enum mark { MARK_REACHED = 0, MARK_INDIRECT = 1 }; // of ranges and of other sources, as live_mark has them

// Memory that is still to be read, or (words 0) a block of the live map that has not been looked at yet.
struct work {
  uintptr_t start;
  uint32_t words;
  uint32_t holder; // record of the block that it is in; of the block that points to it
};

// Reached blocks, and values that may be pointers, wait in rings while what has to be looked at is on its way to the
// processor's caches: at 10 million blocks nearly every look is a miss.
#define QUEUE 16u

struct pointer {
  uintptr_t value, at;
  uint32_t holder;
};

enum flood_mode { FLOOD_ROOT, FLOOD_BLOCKS, FLOOD_INDIRECT };

// Everything is kept here and not in variables of functions, so that reading goes on after a fault.
static struct {
  struct work *work;
  size_t count, capacity;
  struct work queue[QUEUE];
  uint32_t queue_first, queue_count;
  struct pointer pointers[QUEUE];
  uint32_t pointer_first, pointer_count;
  bool complete;
  uint64_t bytes;
  enum flood_mode mode;
  const struct root *root;           // FLOOD_ROOT: while its own words are read
  uint32_t holder;                   // of the block being read
  uint32_t pointed_from;             // of the block that the pointer being followed is in
  uintptr_t at, page_end, end;       // being read: [at, page_end) now, up to end later
  uintptr_t self;                    // FLOOD_INDIRECT: start of the block being read
  uintptr_t low, high;               // no block and no range lies outside
  uintptr_t ranges_low, ranges_span; // no range lies outside
  const struct range *ranges;
  uint32_t range_count;
  uint8_t *range_marks;
  const struct block_source *source;
  struct settled_pages settled;
} flood;

// ---- work

static bool work_grow(void) {
  size_t capacity = flood.capacity ? flood.capacity * 2 : WORK_FIRST;
  struct work *larger = sys_map(capacity * sizeof *larger);
  if (!larger) return false;
  if (flood.work) {
    memcpy(larger, flood.work, flood.count * sizeof *larger);
    sys_unmap(flood.work, flood.capacity * sizeof *flood.work);
  }
  flood.work = larger;
  flood.capacity = capacity;
  return true;
}

static void work_push(struct work work) {
  if (unlikely(flood.count == flood.capacity) && !work_grow())
    flood.complete = false;
  else
    flood.work[flood.count++] = work;
}

static void work_add(uintptr_t start, uintptr_t end, uint32_t holder) {
  start = (start + 7) & ~7ul;
  end &= ~7ul;
  while (start < end) {
    size_t words = (end - start) / 8 < WORDS_MAX ? (end - start) / 8 : WORDS_MAX;
    work_push((struct work){start, (uint32_t)words, holder});
    start += words * 8;
  }
}

// Long memory that was hardly touched is cut down to the pages with data.
static void work_add_resident(uintptr_t start, uintptr_t end, uint32_t holder) {
  if (end - start < RESIDENT_WORTH_BYTES) return work_add(start, end, holder);
  for (uintptr_t at = start, run_end; resident_next(&at, &run_end, end, false); at = run_end)
    work_add(at, run_end, holder);
}

// ---- blocks and ranges

static bool kind_is_followed(unsigned kind) {
  return kind == HT_KIND_HEAP || kind == HT_KIND_MMAP || kind == HT_KIND_PYTHON;
}

static uint32_t holder_of(uintptr_t at, site_id site) {
  return flood.mode == FLOOD_ROOT && flood.root ? holder_at_root(flood.root, at, site)
                                                : holder_at_block(flood.pointed_from, site);
}

// Of a block of the live map: how many of its first bytes hold no references.
static size_t live_skip(const struct block *block) {
  return flood.source && site_at(block->site)->kind == HT_KIND_PYTHON ? flood.source->skip_bytes(block) : 0;
}

// Reads `block` later, but for its first bytes.
static void block_read_later(const struct block *block, size_t skip_bytes, uint32_t holder) {
  if (!kind_is_followed(site_at(block->site)->kind)) return;
  work_add_resident(block->start + skip_bytes, block->start + block->size_bytes, holder);
}

static void range_reach(uint32_t index, uintptr_t at) {
  const struct range *range = &flood.ranges[index];
  if (flood.range_marks[index] & 1u << MARK_REACHED) return;
  flood.range_marks[index] |= 1u << MARK_REACHED;
  if (kind_is_followed(range->kind)) work_add_resident(range->start, range->end, holder_of(at, range->site));
}

static bool range_is_block(const struct range *range) {
  return range->site.value && !(range->flags & (RANGE_ALLOCATOR | RANGE_ARENA));
}

// Neighbours that were mapped together: pieces of a mapping that madvise or mprotect cut, committed parts of one
// reservation. What munmap has torn apart is separate memory.
static bool belongs_together(uint32_t left_index, uint32_t right_index) {
  const struct range *left = &flood.ranges[left_index], *right = &flood.ranges[right_index];
  if (left->end != right->start) return false;
  return left->flags & right->flags & RANGE_RESERVED || (left->block && left->block == right->block);
}

// Who holds a pointer into one of them holds them all.
static void range_visit_whole(uint32_t index, void (*visit)(uint32_t index, uintptr_t at), uintptr_t at) {
  uint32_t first = index;
  while (first > 0 && belongs_together(first - 1, first)) first--;
  for (uint32_t i = first; i < flood.range_count; i++) {
    if (i > first && !belongs_together(i - 1, i)) return;
    if (range_is_block(&flood.ranges[i])) visit(i, at);
  }
}

static void range_point(uint32_t index, uintptr_t at) {
  (void)at;
  flood.range_marks[index] |= 1u << MARK_INDIRECT;
}

// `new T[0]` of a type with a destructor: the block holds only the count, 0, and the program keeps its end
// (LeakSanitizer's IsSpecialCaseOfOperatorNew0).
static bool is_empty_array_end(uintptr_t value) {
  struct block block;
  if (value % 16 != 8 || !live_find(value - 8, &block)) return false;
  return block.size_bytes == 8 && block.start == value - 8 && *(const uint64_t *)block.start == 0;
}

// A root's own words say where the block hangs, so that its record is made at once.
static void live_reach(uintptr_t start, uintptr_t at) {
  struct block block;
  live_mark(start, LIVE_REACHED);
  if (!flood.root) return work_push((struct work){start, 0, flood.pointed_from});
  live_block(start, &block);
  block_read_later(&block, live_skip(&block), holder_at_root(flood.root, at, block.site));
}

static void live_follow(uintptr_t start, uintptr_t at) {
  if (flood.mode != FLOOD_INDIRECT)
    live_reach(start, at);
  else if (start != flood.self)
    live_mark(start, LIVE_INDIRECT);
}

static void source_point(const struct block *block, uintptr_t at) {
  if (flood.mode != FLOOD_INDIRECT) {
    if (!flood.source->mark(block->start, MARK_REACHED))
      block_read_later(block, flood.source->skip_bytes(block), holder_of(at, block->site));
  } else if (block->start != flood.self && !flood.source->marked(block->start, MARK_REACHED)) {
    flood.source->mark(block->start, MARK_INDIRECT);
  }
}

static void range_at(uintptr_t value, uintptr_t at) {
  struct block block;
  const struct range *range = range_find(value);
  if (!range) return;
  if (range->flags & RANGE_ARENA && flood.source && flood.source->find(value, &block)) return source_point(&block, at);
  if (range->flags & (RANGE_ALLOCATOR | RANGE_ARENA)) return;
  uint32_t index = (uint32_t)(range - flood.ranges);
  if (flood.mode != FLOOD_INDIRECT) {
    range_visit_whole(index, range_reach, at);
    if (live_page_is_empty(value)) page_settle(&flood.settled, value);
  } else if (range->start != flood.self) {
    range_visit_whole(index, range_point, at);
  }
}

// Whether the value points into memory of the source's small blocks.
static bool source_follow(const struct pointer *pointer) {
  struct block block;
  bool indirect = flood.mode == FLOOD_INDIRECT;
  switch (flood.source->point(pointer->value, indirect ? MARK_INDIRECT : MARK_REACHED, flood.self, &block)) {
  case BLOCK_ELSEWHERE:
    return false;
  case BLOCK_REACHED:
    block_read_later(&block, flood.source->skip_bytes(&block), holder_of(pointer->at, block.site));
    break;
  case BLOCK_NOTHING:
    break;
  }
  return true;
}

static void pointer_follow(const struct pointer *pointer) {
  flood.pointed_from = pointer->holder;
  if (flood.source && source_follow(pointer)) return;
  uintptr_t start = live_point(pointer->value, flood.mode == FLOOD_INDIRECT ? LIVE_INDIRECT : LIVE_REACHED);
  if (start == 0 && is_empty_array_end(pointer->value)) start = pointer->value - 8;
  if (start > LIVE_POINT_MARKED)
    live_follow(start, pointer->at);
  else if (pointer->value - flood.ranges_low < flood.ranges_span)
    range_at(pointer->value, pointer->at);
}

static void pointer_take(void) {
  struct pointer pointer = flood.pointers[flood.pointer_first];
  flood.pointer_first = (flood.pointer_first + 1) % QUEUE;
  flood.pointer_count--;
  pointer_follow(&pointer);
}

static void pointer_add(uintptr_t value, uintptr_t at) {
  if (page_is_settled(&flood.settled, value)) return;
  live_prefetch_marks(value);
  if (flood.pointer_count == QUEUE) pointer_take();
  flood.pointers[(flood.pointer_first + flood.pointer_count++) % QUEUE] = (struct pointer){value, at, flood.holder};
}

static void pointers_flush(void) {
  while (flood.pointer_count) pointer_take();
}

// ---- reading

static void page_read(void) {
  uintptr_t low = flood.low, span = flood.high - flood.low;
  for (const uintptr_t *word = (const uintptr_t *)flood.at, *end = (const uintptr_t *)flood.page_end; word < end;
       word++)
    if (unlikely(*word - low < span)) pointer_add(*word, (uintptr_t)word);
}

static void span_read(void) {
  while (flood.at < flood.end) {
    flood.page_end = (flood.at & ~(PAGE_BYTES - 1)) + PAGE_BYTES;
    if (flood.page_end > flood.end) flood.page_end = flood.end;
    page_read();
    flood.at = flood.page_end;
  }
}

static void queue_fill(void) {
  while (flood.count && flood.queue_count < QUEUE) {
    struct work work = flood.work[--flood.count];
    if (work.words)
      __builtin_prefetch((const void *)work.start);
    else
      live_prefetch(work.start);
    flood.queue[(flood.queue_first + flood.queue_count++) % QUEUE] = work;
  }
}

// Small blocks, nearly all, are read at once.
static void queue_take(void) {
  struct work work = flood.queue[flood.queue_first];
  flood.queue_first = (flood.queue_first + 1) % QUEUE;
  flood.queue_count--;
  if (!work.words) {
    struct block block;
    live_block(work.start, &block);
    work.holder = holder_at_block(work.holder, block.site);
    size_t skip_bytes = live_skip(&block);
    if (block.size_bytes >= RESIDENT_WORTH_BYTES) return block_read_later(&block, skip_bytes, work.holder);
    if (!kind_is_followed(site_at(block.site)->kind)) return;
    work.start += skip_bytes;
    work.words = (uint32_t)((block.size_bytes - skip_bytes) / 8);
  }
  flood.bytes += work.words * 8ul;
  flood.holder = work.holder;
  flood.at = work.start;
  flood.end = work.start + work.words * 8ul;
  span_read();
}

static void work_read(void *context) {
  (void)context;
  span_read();
  pointers_flush();
  flood.root = NULL;
  do {
    for (queue_fill(); flood.queue_count; queue_fill()) queue_take();
    pointers_flush();
  } while (flood.count);
}

// The rest of a page that cannot be read is left out.
static void flood_run(void) {
  while (!guard_run(work_read, NULL)) flood.at = flood.page_end;
}

static void span_set(uintptr_t start, uintptr_t end) {
  flood.at = (start + 7) & ~7ul;
  flood.end = end & ~7ul;
  if (flood.end > flood.at) flood.bytes += flood.end - flood.at;
}

void flood_root(const struct root *root) {
  flood.mode = FLOOD_ROOT;
  if (root->end - root->start < RESIDENT_WORTH_BYTES) {
    flood.root = root;
    span_set(root->start, root->end);
    return flood_run();
  }
  for (uintptr_t at = root->start, run_end; resident_next(&at, &run_end, root->end, false); at = run_end) {
    flood.root = root;
    span_set(at, run_end);
    flood_run();
  }
}

// ---- blocks that are roots

// Everything that the dynamic loader allocates counts as reachable, as in LeakSanitizer: thread-local blocks of
// libraries are found through the DTV only, and the first DTV was made before anybody could see it.
static bool module_is_loader(uint32_t index) {
  return index < module_count && maps_path_is_loader(module_table[index].path);
}

static bool site_is_loader(site_id site) {
  for (uint32_t node = site_at(site)->node; node_is_frame(node); node = node_table[node].parent) {
    const struct frame *frame = &frame_table[node_table[node].frame];
    if (frame->kind == HT_FRAME_PYTHON) continue; // the line that a native site has under --py
    if (frame->kind != HT_FRAME_NATIVE) return false;
    bool own = frame->module < module_count && module_table[frame->module].flags & HT_MODULE_OWN;
    if (!own) return module_is_loader(frame->module);
  }
  return false;
}

enum site_answer { SITE_UNKNOWN, SITE_PLAIN, SITE_LOADER, SITE_PARENT };

static uint8_t site_answer(site_id site, uint8_t *answers) {
  uint8_t *answer = &answers[site.value];
  if (*answer == SITE_UNKNOWN)
    *answer = site_is_inherited(site) ? SITE_PARENT : site_is_loader(site) ? SITE_LOADER : SITE_PLAIN;
  return *answer;
}

static bool root_block_add(const struct block *block, void *context) {
  uint8_t answer = site_answer(block->site, context);
  if (answer == SITE_PLAIN || live_marked(block->start, LIVE_REACHED)) return true;
  live_mark(block->start, LIVE_REACHED);
  enum holder_source source = answer == SITE_LOADER ? HOLDER_SOURCE_LOADER : HOLDER_SOURCE_PARENT;
  block_read_later(block, live_skip(block), holder_at_source(source, block->site));
  return true;
}

static bool root_source_block_add(const struct block *block, void *context) {
  (void)context;
  if (!site_is_inherited(block->site) || flood.source->mark(block->start, MARK_REACHED)) return true;
  uint32_t holder = holder_at_source(HOLDER_SOURCE_PARENT, block->site);
  block_read_later(block, flood.source->skip_bytes(block), holder);
  return true;
}

static void root_blocks_add(void *answers) {
  live_each_unreached(root_block_add, answers);
  if (flood.source) flood.source->each(root_source_block_add, NULL);
}

void flood_root_blocks(void) {
  uint8_t *answers = sys_map(site_count);
  flood.mode = FLOOD_BLOCKS;
  if (!answers || !guard_run(root_blocks_add, answers)) flood.complete = false;
  if (answers) sys_unmap(answers, site_count);
  flood_run();
}

// ---- what was not reached

static bool block_point_out(const struct block *block, void *context) {
  (void)context;
  flood.self = block->start;
  block_read_later(block, live_skip(block), HOLDER_NONE);
  flood_run();
  return true;
}

static bool source_block_point_out(const struct block *block, void *context) {
  (void)context;
  if (flood.source->marked(block->start, MARK_REACHED)) return true;
  flood.self = block->start;
  work_add(block->start + flood.source->skip_bytes(block), block->start + block->size_bytes, HOLDER_NONE);
  flood_run();
  return true;
}

static bool range_is_leaked(uint32_t index) {
  const struct range *range = &flood.ranges[index];
  return range_is_block(range) && !(flood.range_marks[index] & 1u << MARK_REACHED) && !(range->flags & RANGE_INHERITED);
}

void flood_indirect(void) {
  flood.mode = FLOOD_INDIRECT;
  live_each_unreached(block_point_out, NULL);
  if (flood.source) flood.source->each(source_block_point_out, NULL);
  for (uint32_t i = 0; i < flood.range_count; i++) {
    if (!range_is_leaked(i) || !kind_is_followed(flood.ranges[i].kind)) continue;
    flood.self = flood.ranges[i].start;
    work_add_resident(flood.ranges[i].start, flood.ranges[i].end, HOLDER_NONE);
    flood_run();
  }
}

// ---- results

struct leak_visit {
  void (*visit)(site_id, size_t, uint32_t, bool, void *);
  void *context;
};

static bool leak_of_live(const struct block *block, void *context) {
  struct leak_visit *leak = context;
  uint32_t copies = heap_sample_weight_of(block);
  leak->visit(block->site, block->size_bytes * copies, copies, live_marked(block->start, LIVE_INDIRECT), leak->context);
  return true;
}

static bool leak_of_source(const struct block *block, void *context) {
  struct leak_visit *leak = context;
  if (!flood.source->marked(block->start, MARK_REACHED))
    leak->visit(block->site, block->size_bytes, 1, flood.source->marked(block->start, MARK_INDIRECT), leak->context);
  return true;
}

static size_t range_live_bytes(const struct range *range) {
  if (!(range->flags & RANGE_LAZY)) return range_bytes(range);
  size_t bytes = 0;
  for (uintptr_t at = range->start, run_end; resident_next(&at, &run_end, range->end, false); at = run_end)
    bytes += run_end - at;
  return bytes;
}

// Pieces of one mapping side by side are one block, counted with the first.
static bool is_counted_piece(uint32_t index) {
  const struct range *range = &flood.ranges[index];
  return index == 0 || range->block == 0 || range[-1].block != range->block || range[-1].end != range->start;
}

void flood_each_leak(void (*visit)(site_id, size_t, uint32_t, bool, void *), void *context) {
  struct leak_visit leak = {visit, context};
  live_each_unreached(leak_of_live, &leak);
  if (flood.source) flood.source->each(leak_of_source, &leak);
  for (uint32_t i = 0; i < flood.range_count; i++)
    if (range_is_leaked(i))
      visit(flood.ranges[i].site, range_live_bytes(&flood.ranges[i]), is_counted_piece(i),
            flood.range_marks[i] & 1u << MARK_INDIRECT, context);
}

uint64_t flood_bytes(bool *complete) {
  *complete = flood.complete;
  return flood.bytes;
}

// ---- begin and end

static void bounds_set(void) {
  live_bounds(&flood.low, &flood.high);
  if (flood.range_count == 0) return;
  uintptr_t start = flood.ranges[0].start, end = flood.ranges[flood.range_count - 1].end;
  flood.ranges_low = start;
  flood.ranges_span = end - start;
  if (flood.low == flood.high) flood.low = start;
  if (start < flood.low) flood.low = start;
  if (end > flood.high) flood.high = end;
}

bool flood_begin(void) {
  memset(&flood, 0, sizeof flood);
  flood.complete = true;
  flood.ranges = range_array(&flood.range_count);
  flood.range_marks = sys_map(flood.range_count + 1);
  if (!flood.range_marks || !work_grow()) return false;
  flood.source = ht_block_source();
  if (flood.source && !flood.source->scan_begin()) flood.source = NULL;
  bounds_set();
  return true;
}

void flood_end(void) {
  if (flood.source) flood.source->scan_end();
  if (flood.range_marks) sys_unmap(flood.range_marks, flood.range_count + 1);
  if (flood.work) sys_unmap(flood.work, flood.capacity * sizeof *flood.work);
  memset(&flood, 0, sizeof flood);
}
