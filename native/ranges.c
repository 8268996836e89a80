#include "ranges.h"

#include <string.h>

#include "lock.h"
#include "sys.h"

static struct lock ranges_lock = LOCK_INIT(LOCK_RANK_RANGES);

// The array lies somewhere in the middle of its buffer, so that an insertion moves only the shorter side: new
// mappings mostly come below all others.
static struct range *buffer;
static uint32_t capacity, first, used;

struct lock *range_lock(void) {
  return &ranges_lock;
}

static bool buffer_grow(void) {
  uint32_t larger_capacity = capacity ? capacity * 2 : 1024;
  struct range *larger = sys_map(larger_capacity * sizeof *larger);
  if (!larger) return false;
  uint32_t larger_first = (larger_capacity - used) / 2;
  if (used) memcpy(larger + larger_first, buffer + first, used * sizeof *larger);
  if (buffer) sys_unmap(buffer, capacity * sizeof *buffer);
  buffer = larger;
  capacity = larger_capacity;
  first = larger_first;
  return true;
}

bool ranges_init(void) { return buffer_grow(); }

const struct range *range_array(uint32_t *count) {
  *count = used;
  return buffer + first;
}

// The number of ranges that end at or below `address`.
static uint32_t lower_bound(uintptr_t address) {
  uint32_t low = 0, high = used;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (buffer[first + middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

struct range *range_from(uintptr_t address, uint32_t *count) {
  uint32_t at = lower_bound(address);
  *count = used - at;
  return buffer + first + at;
}

const struct range *range_find(uintptr_t address) {
  uint32_t at = lower_bound(address);
  return at < used && buffer[first + at].start <= address ? &buffer[first + at] : NULL;
}

static bool insert_at(uint32_t at, const struct range *range) {
  if ((first == 0 || first + used == capacity) && !buffer_grow()) return false;
  struct range *base = buffer + first;
  if (at < used / 2) {
    memmove(base - 1, base, at * sizeof *base);
    first--;
  } else {
    memmove(base + at + 1, base + at, (used - at) * sizeof *base);
  }
  buffer[first + at] = *range;
  used++;
  return true;
}

bool range_insert_locked(const struct range *range) { return insert_at(lower_bound(range->start), range); }

void range_remove_locked(struct range *from, uint32_t count) {
  struct range *base = buffer + first;
  uint32_t at = (uint32_t)(from - base);
  if (at < used / 2) {
    memmove(base + count, base, at * sizeof *base);
    first += count;
  } else {
    memmove(from, from + count, (used - at - count) * sizeof *base);
  }
  used -= count;
}

// ---- blocks of pieces

static uint32_t *pieces; // by block; of free blocks: the next free one
static uint32_t pieces_capacity, pieces_used = 1, pieces_free;

static bool pieces_grow(void) {
  uint32_t larger_capacity = pieces_capacity ? pieces_capacity * 2 : 1024;
  uint32_t *larger = sys_map(larger_capacity * sizeof *larger);
  if (!larger) return false;
  if (pieces) {
    memcpy(larger, pieces, pieces_used * sizeof *larger);
    sys_unmap(pieces, pieces_capacity * sizeof *pieces);
  }
  pieces = larger;
  pieces_capacity = larger_capacity;
  return true;
}

uint32_t range_block_new_locked(void) {
  uint32_t block = pieces_free;
  if (block) {
    pieces_free = pieces[block];
  } else {
    if (pieces_used >= pieces_capacity && !pieces_grow()) return 0;
    block = pieces_used++;
  }
  pieces[block] = 1;
  return block;
}

bool range_block_drop_locked(uint32_t block) {
  if (!block || --pieces[block]) return !block;
  pieces[block] = pieces_free;
  pieces_free = block;
  return true;
}

void range_cut_locked(uintptr_t at) {
  uint32_t index = lower_bound(at);
  if (index == used || buffer[first + index].start >= at) return;
  struct range left = buffer[first + index], right = left;
  left.end = right.start = at;
  left.slack_bytes = 0;
  if (!insert_at(index, &left)) return;
  buffer[first + index + 1] = right;
  if (left.block) pieces[left.block]++;
}

struct range *range_span_locked(uintptr_t start, uintptr_t end, uint32_t *count) {
  range_cut_locked(start);
  range_cut_locked(end);
  uint32_t from = lower_bound(start), to = from;
  while (to < used && buffer[first + to].start < end) to++;
  *count = to - from;
  return buffer + first + from;
}

void ranges_fork_child(void) {
  for (uint32_t i = 0; i < used; i++) buffer[first + i].flags |= RANGE_INHERITED;
}
