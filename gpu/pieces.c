#include "pieces.h"

#include "../native/count.h"
#include "../native/sys.h"
#include "../native/thread.h"
#include "site_use.h"
#include "streams.h"

// Where pieces may lie: blocks of device memory and mappings of physical memory, by address. Only kept from the first
// piece on.
struct container {
  uintptr_t start, end;
  uintptr_t key; // of the block that counts its bytes
  uint8_t space; // SPACE_POINTER, SPACE_HANDLE
};
static struct container *containers;
static size_t container_count, container_capacity;
static bool active;

// ---- containers

static bool is_container(const struct gpu_block *block) {
  bool is_block = block->space == SPACE_POINTER && block->kind == HT_KIND_DEVICE && block->size_bytes;
  return is_block || block->space == SPACE_MAPPING;
}

// The first container that ends behind `address`.
static size_t container_from(uintptr_t address) {
  size_t low = 0, high = container_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (containers[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool containers_grow(void) {
  size_t capacity = container_capacity ? 2 * container_capacity : 256;
  struct container *larger = sys_map(capacity * sizeof *larger);
  if (!larger) return false;
  if (containers) {
    __builtin_memcpy(larger, containers, container_count * sizeof *containers);
    sys_unmap(containers, container_capacity * sizeof *containers);
  }
  containers = larger;
  container_capacity = capacity;
  return true;
}

static void container_put(const struct gpu_block *block) {
  if (container_count == container_capacity && !containers_grow()) return;
  size_t at = container_from(block->key);
  __builtin_memmove(&containers[at + 1], &containers[at], (container_count - at) * sizeof *containers);
  bool mapped = block->space == SPACE_MAPPING;
  containers[at] = (struct container){block->key, block->key + block->size_bytes, mapped ? block->owner : block->key,
                                      mapped ? SPACE_HANDLE : SPACE_POINTER};
  container_count++;
}

void pieces_container_add_locked(const struct gpu_block *block) {
  if (active && is_container(block)) container_put(block);
}

void pieces_container_end_locked(const struct gpu_block *block) {
  size_t at = container_from(block->key);
  if (!is_container(block) || at >= container_count || containers[at].start != block->key) return;
  container_count--;
  __builtin_memmove(&containers[at], &containers[at + 1], (container_count - at) * sizeof *containers);
}

static bool container_look(struct gpu_block *block, void *unused) {
  (void)unused;
  if (is_container(block)) container_put(block);
  return true;
}

static void activate(void) {
  active = true;
  block_each_locked(container_look, NULL);
}

// ---- bytes that go over from a pool's block to a piece, and back

static void pool_mark(struct gpu_block *block) {
  if (block->flags & GPU_BLOCK_POOL) return;
  block->flags |= GPU_BLOCK_POOL;
  gpu_devices[block->device].pool_bytes += block->size_bytes;
  __atomic_or_fetch(&site_at(block->site)->flags, HT_SITE_POOL, __ATOMIC_RELAXED);
}

// The part of [start, end) that lies in known blocks, taken from them or given back to them.
static uint64_t overlap_move(struct thread *thread, uintptr_t start, uintptr_t end, bool back) {
  uint64_t bytes = 0;
  for (size_t at = container_from(start); at < container_count && containers[at].start < end; at++) {
    const struct container *container = &containers[at];
    uintptr_t low = start > container->start ? start : container->start;
    uintptr_t high = end < container->end ? end : container->end;
    struct gpu_block *block = block_find_locked(container->space, container->key);
    if (!block) continue;
    pool_mark(block);
    block->taken_bytes += back ? -(high - low) : high - low;
    count_lend(&thread->count, block->site, back ? -(int64_t)(high - low) : (int64_t)(high - low));
    (back ? site_use_add_locked : site_use_subtract_locked)(block->site, high - low);
    bytes += high - low;
  }
  return bytes;
}

bool piece_add_locked(struct thread *thread, uintptr_t start, uint64_t size_bytes, site_id site, uint8_t device) {
  if (!active) activate();
  uint64_t bytes = overlap_move(thread, start, start + size_bytes, false);
  if (!bytes) return false;
  struct gpu_block piece = {.key = start, .size_bytes = bytes, .site = site, .references = 1, .device = device};
  piece.owner = size_bytes;
  piece.space = SPACE_TENSOR;
  piece.kind = HT_KIND_DEVICE;
  block_put_locked(&piece);
  gpu_devices[device].piece_bytes += bytes;
  site_use_add_locked(site, bytes);
  count_piece_alloc(&thread->count, site, HT_KIND_DEVICE, bytes);
  return true;
}

// The piece goes first: who held what at a peak is settled before its bytes are the pool's again.
static void piece_uncount(struct thread *thread, const struct gpu_block *piece, bool temporary) {
  count_piece_free(&thread->count, piece->site, HT_KIND_DEVICE, piece->size_bytes, temporary);
  site_use_subtract_locked(piece->site, piece->size_bytes);
  gpu_devices[piece->device].piece_bytes -= piece->size_bytes;
  overlap_move(thread, piece->key, piece->key + piece->owner, true);
}

bool piece_remove_locked(struct thread *thread, uintptr_t start, bool temporary) {
  struct gpu_block *piece = block_find_locked(SPACE_TENSOR, start);
  if (!piece) return false;
  struct gpu_block gone = *piece;
  block_remove_locked(piece);
  piece_uncount(thread, &gone, temporary);
  return true;
}

// ---- the end of a pool's block

struct span {
  struct thread *thread;
  uintptr_t start, end;
};

static bool piece_outside(struct gpu_block *block, void *context) {
  const struct span *span = context;
  if (block->space != SPACE_TENSOR || block->key < span->start || block->key >= span->end) return true;
  piece_uncount(span->thread, block, false);
  return false;
}

void pieces_block_gone_locked(const struct gpu_block *block) {
  if (block->flags & GPU_BLOCK_POOL) gpu_devices[block->device].pool_bytes -= block->size_bytes;
  pieces_container_end_locked(block);
}

// The block has left the table by now: its pieces did not find it when they went.
static void taken_return(struct thread *thread, const struct gpu_block *block) {
  count_lend(&thread->count, block->site, -(int64_t)block->taken_bytes);
  site_use_add_locked(block->site, block->taken_bytes);
}

void pieces_end_locked(struct thread *thread, const struct gpu_block *block) {
  struct span span = {thread, block->key, block->key + block->size_bytes};
  bool may_hold = block->flags & GPU_BLOCK_POOL || block->space == SPACE_MAPPING;
  if (active && may_hold && is_container(block)) block_each_locked(piece_outside, &span);
  if (block->taken_bytes) taken_return(thread, block);
  pieces_block_gone_locked(block);
}

struct device_pieces {
  struct thread *thread;
  uint8_t device;
};

static bool piece_elsewhere(struct gpu_block *block, void *context) {
  const struct device_pieces *of = context;
  if (block->space != SPACE_TENSOR || block->device != of->device) return true;
  piece_uncount(of->thread, block, false);
  return false;
}

void pieces_all_end_locked(struct thread *thread, uint8_t device) {
  struct device_pieces of = {thread, device};
  if (active) block_each_locked(piece_elsewhere, &of);
}

void pieces_forget(void) {
  if (containers) sys_unmap(containers, container_capacity * sizeof *containers);
  containers = NULL;
  container_count = container_capacity = 0;
  active = false;
}

// ---- gaps

struct piece_span {
  uintptr_t start, end;
};
struct piece_list {
  struct piece_span *spans;
  size_t count, capacity;
};

static bool piece_list_add(struct gpu_block *block, void *context) {
  struct piece_list *list = context;
  if (block->space == SPACE_TENSOR && list->count < list->capacity)
    list->spans[list->count++] = (struct piece_span){block->key, block->key + block->owner};
  return true;
}

static bool piece_list_measure(struct gpu_block *block, void *context) {
  ((struct piece_list *)context)->capacity += block->space == SPACE_TENSOR;
  return true;
}

// Shell's sort: no memory, no recursion, and at most some ten thousand pieces.
static void spans_sort(struct piece_list *list) {
  for (size_t gap = list->count / 2; gap > 0; gap /= 2)
    for (size_t i = gap; i < list->count; i++) {
      struct piece_span moved = list->spans[i];
      size_t at = i;
      for (; at >= gap && list->spans[at - gap].start > moved.start; at -= gap) list->spans[at] = list->spans[at - gap];
      list->spans[at] = moved;
    }
}

static uint64_t gap_in(const struct container *container, const struct piece_list *list, size_t *next) {
  uint64_t largest = 0;
  uintptr_t at = container->start;
  while (*next < list->count && list->spans[*next].end <= at) ++*next;
  for (size_t i = *next; i < list->count && list->spans[i].start < container->end; i++) {
    if (list->spans[i].start > at && list->spans[i].start - at > largest) largest = list->spans[i].start - at;
    if (list->spans[i].end > at) at = list->spans[i].end;
  }
  return at < container->end && container->end - at > largest ? container->end - at : largest;
}

// NULL: not the device's memory, or not known.
static const struct gpu_block *block_on(uint8_t device, const struct container *container) {
  const struct gpu_block *block = block_find_locked(container->space, container->key);
  return block && block->device == device && block->kind == HT_KIND_DEVICE ? block : NULL;
}

static bool is_right_behind(const struct container *container, const struct container *stretch) {
  return stretch->space == SPACE_HANDLE && container->space == SPACE_HANDLE && container->start == stretch->end;
}

// A container and those of the device that are mapped right behind it: a segment that expands is of many handles, and a
// piece may lie across them. `*at` is then the first one behind. False: no pool's, or of another device.
static bool stretch_take(size_t *at, uint8_t device, struct container *stretch) {
  bool is_pool = false;
  *stretch = containers[(*at)++];
  const struct gpu_block *block = block_on(device, stretch);
  while (block) {
    is_pool |= (block->flags & GPU_BLOCK_POOL) != 0;
    bool goes_on = *at < container_count && is_right_behind(&containers[*at], stretch);
    block = goes_on ? block_on(device, &containers[*at]) : NULL;
    if (block) stretch->end = containers[(*at)++].end;
  }
  return is_pool;
}

uint64_t pieces_largest_gap_locked(uint8_t device) {
  struct piece_list list = {0};
  uint64_t largest = 0;
  size_t next = 0;
  if (!active) return 0;
  block_each_locked(piece_list_measure, &list);
  size_t bytes = (list.capacity + 1) * sizeof *list.spans;
  list.spans = sys_map(bytes);
  if (!list.spans) return 0;
  block_each_locked(piece_list_add, &list);
  spans_sort(&list);
  for (size_t i = 0; i < container_count;) {
    struct container stretch;
    if (!stretch_take(&i, device, &stretch)) continue;
    uint64_t gap = gap_in(&stretch, &list, &next);
    if (gap > largest) largest = gap;
  }
  sys_unmap(list.spans, bytes);
  return largest;
}
