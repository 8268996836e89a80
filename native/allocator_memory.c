#include "allocator_memory.h"

#include <string.h>

#include "live.h"
#include "ranges.h"
#include "sys.h"

#define PAGE_BYTES 4096ul

// ---- glibc's further arenas (malloc/arena.c): heaps of 64 MiB, aligned to that, each beginning with a heap_info

#define HEAP_MAX_BYTES (64ul << 20) // HEAP_MAX_SIZE = 2 * DEFAULT_MMAP_THRESHOLD_MAX

struct heap_info {
  uintptr_t arena, previous;
  size_t bytes, writable_bytes;
};

static bool is_arena_heap(const struct heap_info *heap) {
  return heap->arena && heap->bytes && heap->bytes % PAGE_BYTES == 0 && heap->bytes <= heap->writable_bytes &&
         heap->writable_bytes <= HEAP_MAX_BYTES;
}

static void arena_heaps_add(const struct mapping *mapping, struct spans *holes) {
  uintptr_t start = (mapping->start + HEAP_MAX_BYTES - 1) & ~(HEAP_MAX_BYTES - 1);
  for (; start < mapping->end; start += HEAP_MAX_BYTES) {
    const struct heap_info *heap = (const struct heap_info *)start;
    uintptr_t end = start + HEAP_MAX_BYTES < mapping->end ? start + HEAP_MAX_BYTES : mapping->end;
    if (sys_readable(start) && is_arena_heap(heap)) spans_add(holes, start, end);
  }
}

// ---- glibc's main arena, a static variable in the C library's data (malloc/malloc.c, struct malloc_state)
//
// Found by its 127 bins, heads of lists of free chunks. Behind them stand a bitmap of 16 bytes and `next`, the ring of
// arenas: the arena itself, or one inside an arena heap.

#define BINS 127u
#define BINS_BROKEN_MAX 4u // by a thread that was parked within malloc
#define BIN_BYTES 16u
#define BEFORE_BINS_BYTES 112u // mutex, flags, fast bins, top, last remainder: glibc 2.27 to 2.42; fewer later
#define BINMAP_BYTES 16u
#define BEHIND_NEXT_BYTES 40u // next, next_free, attached_threads, system_mem, max_system_mem
#define CHUNK_ALIGN_BYTES 16u
#define CHUNK_FORWARD 16u // of struct malloc_chunk: offsets of fd and bk
#define CHUNK_BACKWARD 24u

static bool chunk_points(uintptr_t chunk, unsigned offset, uintptr_t to) {
  if (!chunk || chunk % CHUNK_ALIGN_BYTES || !sys_readable(chunk + offset)) return false;
  return *(const uintptr_t *)(chunk + offset) == to;
}

// The head is a chunk of which only fd and bk are there. Empty, it points to itself; else the chunks at both ends of
// the list point back to it.
static bool is_bin(const uintptr_t *pair) {
  uintptr_t head = (uintptr_t)pair - CHUNK_FORWARD;
  if (pair[0] == head) return pair[1] == head;
  return chunk_points(pair[0], CHUNK_BACKWARD, head) && chunk_points(pair[1], CHUNK_FORWARD, head);
}

static bool are_bins(uintptr_t bins) {
  unsigned broken = 0;
  for (unsigned i = 0; i < BINS && broken <= BINS_BROKEN_MAX; i++)
    broken += !is_bin((const uintptr_t *)(bins + i * BIN_BYTES));
  return broken <= BINS_BROKEN_MAX;
}

static bool is_ring_word(uintptr_t next, uintptr_t bins) {
  return (next < bins && next >= bins - BEFORE_BINS_BYTES) ||
         (next && next % HEAP_MAX_BYTES <= sizeof(struct heap_info) + 16);
}

// Where the bins of an arena in [start, end) begin; 0: there is none.
static uintptr_t bins_find(uintptr_t start, uintptr_t end) {
  for (uintptr_t bins = start + BEFORE_BINS_BYTES;; bins += sizeof(uintptr_t)) {
    uintptr_t next = bins + BINS * BIN_BYTES + BINMAP_BYTES;
    if (next + BEHIND_NEXT_BYTES > end) return 0;
    if (is_ring_word(*(const uintptr_t *)next, bins) && are_bins(bins)) return bins;
  }
}

static void main_arena_add(const struct mapping *mapping, struct spans *holes) {
  uintptr_t bins = bins_find(mapping->start, mapping->end);
  if (bins) spans_add(holes, bins - BEFORE_BINS_BYTES, bins + BINS * BIN_BYTES + BINMAP_BYTES + BEHIND_NEXT_BYTES);
}

static bool is_c_library(const char *path) {
  const char *name = strrchr(path, '/');
  return name && (strncmp(name, "/libc.so", 8) == 0 || strncmp(name, "/libc-2", 7) == 0);
}

// ---- the books alone, where the memory around the blocks may hold more blocks

// An arena stands behind the heap_info of its first heap. What follows its bins differs from version to version, and
// blocks come next: none of them may be taken for it.
static void arena_books_add(const struct mapping *mapping, struct spans *holes) {
  uintptr_t start = (mapping->start + HEAP_MAX_BYTES - 1) & ~(HEAP_MAX_BYTES - 1);
  for (; start < mapping->end; start += HEAP_MAX_BYTES) {
    const struct heap_info *heap = (const struct heap_info *)start;
    if (!sys_readable(start) || !is_arena_heap(heap) || heap->arena - start >= PAGE_BYTES) continue;
    uintptr_t bins = bins_find(start, start + PAGE_BYTES);
    if (bins) spans_add(holes, start, bins + BINS * BIN_BYTES);
  }
}

void allocator_books_collect(const struct maps *maps, struct spans *holes) {
  for (uint32_t i = 0; i < maps->count; i++) {
    const struct mapping *mapping = &maps->table[i];
    if (!(mapping->flags & MAPS_READ) || !(mapping->flags & MAPS_WRITE) || mapping->flags & MAPS_SHARED) continue;
    if (live_usable_glibc && !*mapping->path) arena_books_add(mapping, holes);
    if (is_c_library(mapping->path)) main_arena_add(mapping, holes);
  }
}

// ---- memory with blocks in it

struct block_walk {
  const struct maps *maps;
  struct spans *holes;
  uint32_t at;    // blocks come by address, so this only moves up
  uint32_t taken; // one more than the mapping that is in `holes` already
};

// Of Mojo's tcmalloc: before it stands no header of glibc's.
static bool is_foreign(const struct block *block) {
  const struct range *range = range_find(block->start);
  return range && range->flags & RANGE_ALLOCATOR;
}

static bool is_alone(const struct block *block) {
  return live_usable_glibc && !is_foreign(block) && ((const size_t *)block->start)[-1] & CHUNK_MAPPED;
}

// Data of a module, where a program's own allocator may hand out static memory.
static bool is_module_data(const struct maps *maps, const struct mapping *mapping) {
  bool follows = mapping > maps->table && mapping[-1].end == mapping->start;
  return *mapping->path == '/' || (!*mapping->path && follows && mapping[-1].path[0] == '/');
}

static bool block_memory_add(const struct block *block, void *context) {
  struct block_walk *walk = context;
  const struct maps *maps = walk->maps;
  while (walk->at < maps->count && maps->table[walk->at].end <= block->start) walk->at++;
  if (walk->at == maps->count) return false;
  const struct mapping *mapping = &maps->table[walk->at];
  if (walk->taken == walk->at + 1 || block->start < mapping->start) return true;
  if (is_alone(block) || is_module_data(maps, mapping)) {
    uintptr_t end = block->start + block->size_bytes;
    spans_add(walk->holes, (block->start & ~15ul) - 16,
              is_alone(block) ? (end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1) : end);
    return true;
  }
  walk->taken = walk->at + 1;
  spans_add(walk->holes, mapping->start, mapping->end);
  return true;
}

void allocator_memory_collect(const struct maps *maps, struct spans *holes) {
  for (uint32_t i = 0; i < maps->count; i++) {
    const struct mapping *mapping = &maps->table[i];
    if (!(mapping->flags & MAPS_READ) || !(mapping->flags & MAPS_WRITE) || mapping->flags & MAPS_SHARED) continue;
    if (live_usable_glibc && strcmp(mapping->path, "[heap]") == 0) spans_add(holes, mapping->start, mapping->end);
    if (live_usable_glibc && !*mapping->path) arena_heaps_add(mapping, holes);
    if (is_c_library(mapping->path)) main_arena_add(mapping, holes);
  }
  struct block_walk walk = {.maps = maps, .holes = holes};
  live_each(block_memory_add, &walk);
}

uintptr_t allocator_memory_end(uintptr_t address) {
  struct block block;
  if (live_find(address, &block)) return block.start + block.size_bytes;
  const struct range *range = range_find(address);
  return range && !(range->flags & RANGE_RESERVED) ? range->end : 0;
}
