#include "object_links.h"

#include "../native/live.h"
#include "collector_object.h"
#include "object_count.h"
#include "object_map.h"

#define WEAKREF_OBJECT_OFFSET 16 // PyWeakReference: PyObject_HEAD, wr_object (Include/cpython/weakrefobject.h)

static bool hidden;

static void word_set(uintptr_t address) {
  if (hidden) *(uintptr_t *)address |= GC_LINK_HIDDEN;
  else *(uintptr_t *)address &= ~GC_LINK_HIDDEN;
}

// The neighbours' links as well: the list's own head is in no block.
static void links_set(uintptr_t head) {
  uintptr_t next = gc_link(head), previous = gc_link(head + 8);
  word_set(head);
  word_set(head + 8);
  word_set(next + 8);
  word_set(previous);
}

static void block_visit(uintptr_t start, size_t size_bytes) {
  const char *object = collector_object_in(start, size_bytes);
  if (!object) return;
  links_set((uintptr_t)object - GC_HEAD_BYTES);
  if (collector_object_is_weak_reference(object)) word_set((uintptr_t)object + WEAKREF_OBJECT_OFFSET);
}

static bool visit_small(uintptr_t start, uint32_t pair, void *unused) {
  (void)unused;
  block_visit(start, pair_table[pair].size_bytes);
  return true;
}

static bool visit_big(const struct block *block, void *unused) {
  (void)unused;
  if (site_at(block->site)->kind == HT_KIND_PYTHON) block_visit(block->start, block->size_bytes);
  return true;
}

static void visit_all(void) {
  collector_object_begin();
  object_map_each(visit_small, NULL);
  live_each(visit_big, NULL);
}

void object_links_hide(void) {
  hidden = python_thread_state() != NULL;
  if (hidden) visit_all();
}

void object_links_show(void) {
  if (!hidden) return;
  hidden = false;
  visit_all();
}

bool object_links_hidden(void) { return hidden; }
