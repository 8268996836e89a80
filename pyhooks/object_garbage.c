#include "object_garbage.h"

#include "../native/live.h"
#include "collector_object.h"
#include "growing.h"
#include "object_count.h"
#include "object_map.h"

#define MULTIPLIER 0x9E3779B97F4A7C15ull

struct tracked {
  char *object;
  uintptr_t block_start;
  int64_t outside; // references not from tracked objects
  bool reached;
};
static struct tracked *tracked;
static uint32_t tracked_count, tracked_capacity;
static bool complete;

// Open addressing: object or block start -> index in `tracked` + 1, 0: empty.
struct index {
  uint32_t *slots;
  uint32_t mask;
};
static struct index by_object, by_block;

static uint32_t hash_of(uintptr_t key, uint32_t mask) { return (uint32_t)((key >> 4) * MULTIPLIER >> 32) & mask; }

// ---- collecting

static void tracked_add(uintptr_t start, size_t size_bytes) {
  char *object = collector_object_in(start, size_bytes);
  if (!object || !complete) return;
  complete = growing_reserve((void **)&tracked, &tracked_capacity, tracked_count + 1, sizeof *tracked);
  if (complete)
    tracked[tracked_count++] = (struct tracked){object, start, collector_object_references(object), false};
}

static bool add_small(uintptr_t start, uint32_t pair, void *unused) {
  (void)unused;
  tracked_add(start, pair_table[pair].size_bytes);
  return complete;
}

static bool add_big(const struct block *block, void *unused) {
  (void)unused;
  if (site_at(block->site)->kind == HT_KIND_PYTHON) tracked_add(block->start, block->size_bytes);
  return complete;
}

static bool index_make(struct index *index) {
  uint32_t capacity = 1024;
  while (capacity < tracked_count * 2) capacity *= 2;
  index->slots = sys_map(capacity * sizeof *index->slots);
  index->mask = capacity - 1;
  return index->slots != NULL;
}

static void index_put(struct index *index, uintptr_t key, uint32_t value) {
  uint32_t at = hash_of(key, index->mask);
  while (index->slots[at]) at = (at + 1) & index->mask;
  index->slots[at] = value;
}

static struct tracked *tracked_object(const void *object) {
  uint32_t at = hash_of((uintptr_t)object, by_object.mask);
  for (; by_object.slots[at]; at = (at + 1) & by_object.mask)
    if (tracked[by_object.slots[at] - 1].object == object) return &tracked[by_object.slots[at] - 1];
  return NULL;
}

// ---- deducing

static int subtract(void *object, void *unused) {
  (void)unused;
  struct tracked *target = tracked_object(object);
  if (target) target->outside--;
  return 0;
}

static uint32_t *pending; // indexes of reached objects that were not looked into yet
static uint32_t pending_count;

static void reach(struct tracked *target) {
  if (target->reached) return;
  target->reached = true;
  pending[pending_count++] = (uint32_t)(target - tracked);
}

static int reach_visit(void *object, void *unused) {
  (void)unused;
  struct tracked *target = tracked_object(object);
  if (target) reach(target);
  return 0;
}

static void traverse(const struct tracked *from, python_visit visit) {
  python_traverse each = collector_object_traverse(from->object);
  if (each) each(from->object, visit, NULL);
}

static void deduce(void) {
  for (uint32_t i = 0; i < tracked_count; i++) traverse(&tracked[i], subtract);
  for (uint32_t i = 0; i < tracked_count; i++)
    if (tracked[i].outside > 0) reach(&tracked[i]);
  while (pending_count) traverse(&tracked[pending[--pending_count]], reach_visit);
}

bool object_garbage_find(void) {
  collector_object_begin();
  tracked_count = 0;
  complete = true;
  object_map_each(add_small, NULL);
  live_each(add_big, NULL);
  pending = complete ? sys_map((tracked_count + 1) * sizeof *pending) : NULL;
  if (!pending || !index_make(&by_object) || !index_make(&by_block)) return object_garbage_drop(), false;
  for (uint32_t i = 0; i < tracked_count; i++) index_put(&by_object, (uintptr_t)tracked[i].object, i + 1);
  deduce();
  for (uint32_t i = 0; i < tracked_count; i++)
    if (!tracked[i].reached) index_put(&by_block, tracked[i].block_start, i + 1);
  return true;
}

bool object_garbage_has(uintptr_t start) {
  if (!by_block.slots) return false;
  uint32_t at = hash_of(start, by_block.mask);
  for (; by_block.slots[at]; at = (at + 1) & by_block.mask)
    if (tracked[by_block.slots[at] - 1].block_start == start) return true;
  return false;
}

void object_garbage_drop(void) {
  if (pending) sys_unmap(pending, (tracked_count + 1) * sizeof *pending);
  if (by_object.slots) sys_unmap(by_object.slots, (by_object.mask + 1) * sizeof *by_object.slots);
  if (by_block.slots) sys_unmap(by_block.slots, (by_block.mask + 1) * sizeof *by_block.slots);
  if (tracked) sys_unmap(tracked, tracked_capacity * sizeof *tracked);
  pending = NULL, tracked = NULL;
  by_object.slots = by_block.slots = NULL;
  tracked_count = tracked_capacity = 0;
}
