#include "object_links.h"

#include "../native/growing.h"
#include "../native/live.h"
#include "collector_object.h"
#include "object_count.h"
#include "object_garbage.h"
#include "object_map.h"

#define WEAKREF_OBJECT_OFFSET 16 // PyWeakReference: PyObject_HEAD, wr_object (Include/cpython/weakrefobject.h)

// The tracked objects whose links are hidden now.
static char **objects;
static uint32_t object_count, objects_capacity;
static bool complete, hidden;

static void word_set(uintptr_t address, bool hide) {
  if (hide)
    *(uintptr_t *)address |= GC_LINK_HIDDEN;
  else
    *(uintptr_t *)address &= ~GC_LINK_HIDDEN;
}

// The neighbours' links as well: the list's own head is in no block.
static void links_set(char *object, bool hide) {
  uintptr_t head = (uintptr_t)object - GC_HEAD_BYTES, next = gc_link(head), previous = gc_link(head + 8);
  word_set(head, hide);
  word_set(head + 8, hide);
  word_set(next + 8, hide);
  word_set(previous, hide);
  if (collector_object_is_weak_reference(object)) word_set((uintptr_t)object + WEAKREF_OBJECT_OFFSET, hide);
}

static bool object_add(char *object) {
  complete = growing_reserve((void **)&objects, &objects_capacity, object_count + 1, sizeof *objects);
  if (complete) objects[object_count++] = object;
  return complete;
}

static bool block_add(uintptr_t start, size_t size_bytes) {
  char *object = collector_object_in(start, size_bytes);
  return !object || object_add(object);
}

static bool add_small(uintptr_t start, uint32_t pair, void *unused) {
  (void)unused;
  return block_add(start, pair_table[pair].size_bytes);
}

static bool add_big(const struct block *block, void *unused) {
  (void)unused;
  return site_at(block->site)->kind != HT_KIND_PYTHON || block_add(block->start, block->size_bytes);
}

static void objects_drop(void) {
  if (objects) sys_unmap(objects, objects_capacity * sizeof *objects);
  objects = NULL;
  object_count = objects_capacity = 0;
}

static void objects_collect(void) {
  collector_object_begin();
  object_map_each(add_small, NULL);
  live_each(add_big, NULL);
}

void object_links_hide(void) {
  if (!python_thread_state()) return;
  complete = true;
  if (!object_garbage_each_tracked(object_add)) objects_collect();
  hidden = complete;
  for (uint32_t i = 0; hidden && i < object_count; i++) links_set(objects[i], true);
  if (!hidden) objects_drop();
}

void object_links_show(void) {
  for (uint32_t i = 0; hidden && i < object_count; i++) links_set(objects[i], false);
  hidden = false;
  objects_drop();
}

bool object_links_hidden(void) { return hidden; }
