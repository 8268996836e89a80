#include "object_garbage.h"

#include <string.h>

#include "../native/growing.h"
#include "../native/live.h"
#include "collector_object.h"
#include "object_blocks.h"
#include "object_count.h"
#include "object_fields.h"
#include "object_map.h"
#include "object_types.h"

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

// Objects the collector does not know, but which garbage refers to.
struct loose {
  char *object;
  int64_t from_garbage; // references from garbage
};
static struct loose *loose;
static uint32_t loose_count, loose_capacity;

// Blocks of garbage, and those of them that stand in the live map.
static uintptr_t *dead;
static uint32_t dead_count, dead_capacity;
static struct block *dead_big;
static uint32_t dead_big_count, dead_big_capacity;

// Open addressing: an address -> index + 1 in one of the arrays above, 0: empty.
struct index {
  uint32_t *slots;
  uint32_t capacity, used;
};
static struct index tracked_index, loose_index, dead_index;

typedef uintptr_t (*key_of)(uint32_t value);
static uintptr_t tracked_key(uint32_t i) { return (uintptr_t)tracked[i].object; }
static uintptr_t loose_key(uint32_t i) { return (uintptr_t)loose[i].object; }
static uintptr_t dead_key(uint32_t i) { return dead[i]; }

// The slot of `key`, or the empty one where it belongs.
static uint32_t *index_slot(const struct index *index, uintptr_t key, key_of key_at) {
  uint32_t mask = index->capacity - 1, at = (uint32_t)((key >> 4) * MULTIPLIER >> 32) & mask;
  while (index->slots[at] && key_at(index->slots[at] - 1) != key) at = (at + 1) & mask;
  return &index->slots[at];
}

static bool index_reserve(struct index *index, key_of key_at) {
  if (index->slots && index->used * 2 < index->capacity) return true;
  struct index larger = {.capacity = index->capacity ? index->capacity * 2 : 4096, .used = index->used};
  larger.slots = sys_map(larger.capacity * sizeof *larger.slots);
  if (!larger.slots) return complete = false;
  for (uint32_t i = 0; i < index->capacity; i++)
    if (index->slots[i]) *index_slot(&larger, key_at(index->slots[i] - 1), key_at) = index->slots[i];
  if (index->slots) sys_unmap(index->slots, index->capacity * sizeof *index->slots);
  *index = larger;
  return true;
}

static void index_drop(struct index *index) {
  if (index->slots) sys_unmap(index->slots, index->capacity * sizeof *index->slots);
  *index = (struct index){0};
}

// ---- collecting

static void tracked_add(uintptr_t start, size_t size_bytes) {
  char *object = collector_object_in(start, size_bytes);
  if (!object || !complete) return;
  complete = growing_reserve((void **)&tracked, &tracked_capacity, tracked_count + 1, sizeof *tracked);
  if (complete) tracked[tracked_count++] = (struct tracked){object, start, collector_object_references(object), false};
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

static struct tracked *tracked_object(const void *object) {
  uint32_t slot = *index_slot(&tracked_index, (uintptr_t)object, tracked_key);
  return slot ? &tracked[slot - 1] : NULL;
}

static bool tracked_collect(void) {
  collector_object_begin();
  object_map_each(add_small, NULL);
  live_walk(add_big, NULL);
  for (uint32_t i = 0; i < tracked_count && index_reserve(&tracked_index, tracked_key); i++) {
    *index_slot(&tracked_index, tracked_key(i), tracked_key) = i + 1;
    tracked_index.used++;
  }
  return complete && index_reserve(&tracked_index, tracked_key);
}

// ---- deducing which of them are reached

static void traverse(const char *object, python_visit visit) {
  python_traverse each = collector_object_traverse(object);
  if (each) each((void *)object, visit, NULL);
}

static int subtract(void *object, void *unused) {
  (void)unused;
  struct tracked *target = tracked_object(object);
  if (target) target->outside--;
  return 0;
}

static uint32_t *pending; // indexes of reached objects that were not looked into yet
static uint32_t pending_count;

static int reach(void *object, void *unused) {
  (void)unused;
  struct tracked *target = tracked_object(object);
  if (!target || target->reached) return 0;
  target->reached = true;
  pending[pending_count++] = (uint32_t)(target - tracked);
  return 0;
}

static bool deduce(void) {
  size_t pending_bytes = (tracked_count + 1) * sizeof *pending;
  pending = sys_map(pending_bytes);
  if (!pending) return false;
  for (uint32_t i = 0; i < tracked_count; i++) traverse(tracked[i].object, subtract);
  for (uint32_t i = 0; i < tracked_count; i++)
    if (tracked[i].outside > 0) reach(tracked[i].object, NULL);
  while (pending_count) traverse(tracked[pending[--pending_count]].object, reach);
  sys_unmap(pending, pending_bytes);
  return true;
}

// ---- what falls with the rest: objects that have all their references from garbage

static void dead_add(uintptr_t start) {
  if (!index_reserve(&dead_index, dead_key)) return;
  uint32_t *slot = index_slot(&dead_index, start, dead_key);
  if (*slot) return;
  complete = complete && growing_reserve((void **)&dead, &dead_capacity, dead_count + 1, sizeof *dead);
  if (!complete) return;
  dead[dead_count++] = start;
  *slot = dead_count;
  dead_index.used++;
}

// PyListObject, Include/cpython/listobject.h: after the head and the size.
static const void *list_items(const char *object) {
  const void *items;
  memcpy(&items, object + sizeof(struct python_object) + sizeof(ssize_t), sizeof items);
  return items;
}

// Arrays that are one object's alone: a stale pointer to one must not make it look held.
static void arrays_dead(const char *object) {
  const void *array = object_sort(object) == SORT_LIST ? list_items(object) : object_values_block(object);
  struct block block = array ? object_block_at((uintptr_t)array) : (struct block){0};
  if (block.site.value) dead_add(block.start);
}

static void loose_dead(char *object) {
  uint32_t pair;
  uintptr_t start = object_map_find((uintptr_t)object, &pair);
  if (start && (uintptr_t)object < start + pair_table[pair].size_bytes) dead_add(start);
  struct block block;
  if (live_peek((uintptr_t)object, &block)) dead_add(block.start);
}

static int fall(void *object, void *unused) {
  (void)unused;
  if (tracked_object(object) || !index_reserve(&loose_index, loose_key)) return 0;
  uint32_t *slot = index_slot(&loose_index, (uintptr_t)object, loose_key);
  if (!*slot) {
    complete = complete && growing_reserve((void **)&loose, &loose_capacity, loose_count + 1, sizeof *loose);
    if (!complete) return 0;
    loose[loose_count] = (struct loose){object, 0};
    *slot = ++loose_count;
    loose_index.used++;
  }
  loose[*slot - 1].from_garbage++;
  return 0;
}

static bool loose_falls(const struct loose *one) {
  return one->from_garbage == collector_object_references(one->object);
}

// Untracked containers (dicts and tuples of plain values) are looked into as they fall; they are appended to the
// array, so that one pass sees all.
static void fall_all(void) {
  for (uint32_t i = 0; i < tracked_count; i++) {
    if (tracked[i].reached) continue;
    dead_add(tracked[i].block_start);
    arrays_dead(tracked[i].object);
    traverse(tracked[i].object, fall);
  }
  for (uint32_t i = 0; i < loose_count; i++) {
    if (!loose_falls(&loose[i])) continue;
    loose_dead(loose[i].object);
    if (collector_object_is_container(loose[i].object)) traverse(loose[i].object, fall);
  }
}

// ---- of which types it is

static void buffer_type_add(const struct block *block, const void *owner, uint32_t unused) {
  (void)unused;
  object_types_add_buffer(block, owner);
}

static void types_add(const void *object) {
  if (!object_types_first((uintptr_t)object)) return;
  object_types_add_object(object);
  object_buffers_each(object, buffer_type_add, 0);
}

static void types_keep(void) {
  static site_id sites[TYPED_SITES_MAX];
  object_types_begin();
  for (uint32_t i = 0; i < tracked_count; i++)
    if (!tracked[i].reached) types_add(tracked[i].object);
  for (uint32_t i = 0; i < loose_count; i++)
    if (loose_falls(&loose[i])) types_add(loose[i].object);
  object_types_keep(TYPES_OF_LOST, sites, object_types_sites(sites, TYPED_SITES_MAX));
  object_types_drop();
}

// ---- large blocks leave the live map while the scan runs, which would find them there

static void big_take(void) {
  for (uint32_t i = 0; i < dead_count; i++) {
    if (!growing_reserve((void **)&dead_big, &dead_big_capacity, dead_big_count + 1, sizeof *dead_big)) return;
    if (live_take(dead[i], &dead_big[dead_big_count])) dead_big_count++;
  }
}

// Malloc's or not.
static void big_give_back(void) {
  for (uint32_t i = 0; i < dead_big_count; i++)
    live_put_foreign(dead_big[i].start, dead_big[i].size_bytes, dead_big[i].site);
}

bool object_garbage_find(void) {
  complete = true;
  if (!tracked_collect() || !deduce()) return object_garbage_drop(), false;
  fall_all();
  if (!complete) return object_garbage_drop(), false;
  types_keep();
  big_take();
  return true;
}

bool object_garbage_each_tracked(bool (*visit)(char *object)) {
  for (uint32_t i = 0; i < tracked_count; i++)
    if (!visit(tracked[i].object)) break;
  return tracked_count != 0;
}

bool object_garbage_has(uintptr_t start) { return dead_index.slots && *index_slot(&dead_index, start, dead_key); }

void object_garbage_each_big(bool (*visit)(const struct block *, void *), void *context) {
  for (uint32_t i = 0; i < dead_big_count; i++)
    if (!visit(&dead_big[i], context)) return;
}

void object_garbage_drop(void) {
  big_give_back();
  index_drop(&tracked_index);
  index_drop(&loose_index);
  index_drop(&dead_index);
  if (tracked) sys_unmap(tracked, tracked_capacity * sizeof *tracked);
  if (loose) sys_unmap(loose, loose_capacity * sizeof *loose);
  if (dead) sys_unmap(dead, dead_capacity * sizeof *dead);
  if (dead_big) sys_unmap(dead_big, dead_big_capacity * sizeof *dead_big);
  tracked = NULL, loose = NULL, dead = NULL, dead_big = NULL;
  tracked_count = tracked_capacity = loose_count = loose_capacity = 0;
  dead_count = dead_capacity = dead_big_count = dead_big_capacity = 0;
}
