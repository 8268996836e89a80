#include "object_scan.h"

#include "../native/core.h"
#include "../native/sys.h"
#include "arenas.h"
#include "hook_python.h"
#include "object_count.h"
#include "object_map.h"

// Blocks that are nobody's leak: the parent's, frame stacks, and what is left after the interpreter was taken down.
// Site 0 is below every process's own sites, which makes them roots as inherited blocks are.
#define SITE_NONE ((site_id){0})

static site_id site_of_pair(uint32_t pair) {
  if (hook_python_ended || pair < pair_inherited) return SITE_NONE;
  return line_table[pair_lines[pair].value].site;
}

static struct block block_of(uintptr_t start, uint32_t pair) {
  return (struct block){start, pair_table[pair].size_bytes, site_of_pair(pair)};
}

// ---- marks: two bits for each 16 bytes, one reservation for each leaf of the object map

#define MARKS_LEAF_BYTES ((size_t)1 << (OBJECT_LEAF_BITS - 4 - 2))
#define LEAVES (sizeof object_leaves / sizeof *object_leaves)
static uint8_t *marks[LEAVES];
static uint8_t chunk_marks[ARENA_CHUNKS_MAX];

static void scan_end(void) {
  for (size_t i = 0; i < LEAVES; i++) {
    if (marks[i]) sys_unmap(marks[i], MARKS_LEAF_BYTES);
    marks[i] = NULL;
  }
}

static uintptr_t readable_pages[1024];

static bool scan_begin(void) {
  memset(chunk_marks, 0, sizeof chunk_marks);
  memset(readable_pages, 0, sizeof readable_pages);
  for (size_t i = 0; i < LEAVES; i++) {
    if (!object_leaves[i]) continue;
    marks[i] = sys_map(MARKS_LEAF_BYTES);
    if (!marks[i]) return scan_end(), false;
  }
  return arenas_scan_begin();
}

// The byte and the bit that hold mark `which` of the block at `start`; NULL: none of ours.
static uint8_t *mark_place(uintptr_t start, int which, uint8_t *bit) {
  uintptr_t chunk_start, chunk_end;
  uint32_t chunk;
  if (arenas_chunk_find(start, &chunk_start, &chunk_end, &chunk)) return *bit = (uint8_t)(1 << which), &chunk_marks[chunk];
  if (start >> OBJECT_ADDRESS_BITS || !marks[start >> OBJECT_LEAF_BITS]) return NULL;
  size_t granule = (start & ((1ull << OBJECT_LEAF_BITS) - 1)) >> 4;
  *bit = (uint8_t)(1 << ((granule & 3) * 2 + (size_t)which));
  return &marks[start >> OBJECT_LEAF_BITS][granule >> 2];
}

static bool scan_mark(uintptr_t start, int which) {
  uint8_t bit, *place = mark_place(start, which, &bit);
  if (!place || *place & bit) return true;
  *place |= bit;
  return false;
}

static bool scan_marked(uintptr_t start, int which) {
  uint8_t bit, *place = mark_place(start, which, &bit);
  return place && *place & bit;
}

// ---- blocks

static bool scan_find(uintptr_t address, struct block *block) {
  uintptr_t start, end;
  uint32_t pair, chunk;
  if ((start = object_map_find(address, &pair))) {
    *block = block_of(start, pair);
    if (address == start || address < start + block->size_bytes) return true;
  }
  if (!arenas_chunk_find(address, &start, &end, &chunk)) return false;
  *block = (struct block){start, end - start, SITE_NONE};
  return true;
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

static void scan_each(bool (*visit)(const struct block *, void *), void *context) {
  object_map_each(visit_object, &(struct visit){visit, context});
}

// ---- what is not a reference. The cyclic collector chains all objects it knows; following its links, nothing would
// ever be unreachable. PyGC_Head {next, prev} (Include/internal/pycore_gc.h, flags in the low bits) stands before the
// object, in 3.11 on with two more words before it when the object's dict is kept there. Whether a block has one is
// seen from the links themselves: both neighbours point back. A weak reference does not hold its object either.

#define GC_HEAD_BYTES 16
#define PRE_HEADER_BYTES 16
#define GC_FLAG_BITS 7ul
#define WEAKREF_OBJECT_END 24 // PyWeakReference: PyObject_HEAD, wr_object (Include/cpython/weakrefobject.h)
#define TYPE_BASE_OFFSET 256  // PyTypeObject.tp_base, the same in 3.9 to 3.14 (Include/cpython/object.h)

// World parked: what could be read once can be read again.
static bool readable(uintptr_t address) {
  uintptr_t page = address >> 12, *known = &readable_pages[page % (sizeof readable_pages / sizeof *readable_pages)];
  if (*known == page) return true;
  if (address < 4096 || address & 7 || address >> OBJECT_ADDRESS_BITS || !sys_readable(address)) return false;
  *known = page;
  return true;
}

static uintptr_t word_at(uintptr_t address) { return *(const uintptr_t *)address; }

static bool is_gc_head(uintptr_t head) {
  uintptr_t next = word_at(head) & ~GC_FLAG_BITS, previous = word_at(head + 8) & ~GC_FLAG_BITS;
  return readable(next) && readable(next + 8) && readable(previous) && (word_at(next + 8) & ~GC_FLAG_BITS) == head &&
         (word_at(previous) & ~GC_FLAG_BITS) == head;
}

static bool is_weak_reference(uintptr_t object) {
  for (uintptr_t type = word_at(object + 8); type; type = word_at(type + TYPE_BASE_OFFSET)) {
    if (!readable(type + TYPE_BASE_OFFSET)) return false;
    for (size_t i = 0; i < sizeof python.weak_types / sizeof *python.weak_types; i++)
      if (type == (uintptr_t)python.weak_types[i]) return true;
  }
  return false;
}

static size_t scan_skip(const struct block *block) {
  for (uintptr_t pre = 0; pre <= PRE_HEADER_BYTES; pre += PRE_HEADER_BYTES) {
    if (block->size_bytes < pre + GC_HEAD_BYTES + sizeof(struct python_object)) return 0;
    if (pre && (python.minor < 11)) return 0;
    if (!is_gc_head(block->start + pre)) continue;
    uintptr_t object = block->start + pre + GC_HEAD_BYTES;
    if (block->size_bytes >= pre + GC_HEAD_BYTES + WEAKREF_OBJECT_END && is_weak_reference(object))
      return pre + GC_HEAD_BYTES + WEAKREF_OBJECT_END;
    return pre ? 0 : GC_HEAD_BYTES;
  }
  return 0;
}

void object_scan_init(void) {
  static const struct block_source source = {scan_find,  scan_each, scan_mark, scan_marked,
                                             scan_begin, scan_end,  scan_skip};
  ht_add_block_source(&source);
}
