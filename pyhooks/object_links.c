#include "object_links.h"

#include <string.h>

#include "../native/live.h"
#include "../native/sys.h"
#include "object_count.h"
#include "object_map.h"

// PyGC_Head {next, prev} (Include/internal/pycore_gc.h) stands before the object; from 3.11 on with two more words
// before it when the object's dict is kept there (_PyType_PreHeaderSize, Include/internal/pycore_object.h).
#define GC_HEAD_BYTES 16
#define PRE_HEADER_BYTES 16
#define GC_FLAG_BITS 7ul
#define HIDDEN (1ul << 63)
#define WEAKREF_OBJECT_OFFSET 16 // PyWeakReference: PyObject_HEAD, wr_object (Include/cpython/weakrefobject.h)
#define TYPE_BASE_OFFSET 256     // PyTypeObject.tp_base, the same in 3.9 to 3.14 (Include/cpython/object.h)

static bool hidden;
static uintptr_t readable_pages[1024];

// What could be read once can be read again while the world is parked.
static bool readable(uintptr_t address) {
  if (address < 4096 || address & 7 || address >> OBJECT_ADDRESS_BITS) return false;
  uintptr_t page = address >> 12, *known = &readable_pages[page % (sizeof readable_pages / sizeof *readable_pages)];
  if (*known != page && sys_readable(address)) *known = page;
  return *known == page;
}

static uintptr_t *word_at(uintptr_t address) { return (uintptr_t *)address; }
static uintptr_t link_at(uintptr_t address) { return *word_at(address) & ~(GC_FLAG_BITS | HIDDEN); }

// Whether a block has a collector's head at `head` is seen from the links themselves: both neighbours point back.
static bool is_gc_head(uintptr_t head) {
  uintptr_t next = link_at(head), previous = link_at(head + 8);
  return readable(next) && readable(next + 8) && readable(previous) && link_at(next + 8) == head &&
         link_at(previous) == head;
}

static void word_hide(uintptr_t address) {
  if (hidden) *word_at(address) |= HIDDEN;
  else *word_at(address) &= ~HIDDEN;
}

// The neighbours' links as well: the list's own head is in no block.
static void head_hide(uintptr_t head) {
  uintptr_t next = link_at(head), previous = link_at(head + 8);
  word_hide(head);
  word_hide(head + 8);
  word_hide(next + 8);
  word_hide(previous);
}

static bool is_weak_reference(uintptr_t object) {
  for (uintptr_t type = *word_at(object + 8); type; type = *word_at(type + TYPE_BASE_OFFSET)) {
    if (!readable(type) || !readable(type + TYPE_BASE_OFFSET)) return false;
    for (size_t i = 0; i < sizeof python.weak_types / sizeof *python.weak_types; i++)
      if (type == (uintptr_t)python.weak_types[i]) return true;
  }
  return false;
}

// False: no head at `offset` of the block.
static bool head_visit(uintptr_t start, size_t size_bytes, size_t offset) {
  uintptr_t head = start + offset, object = head + GC_HEAD_BYTES;
  if (size_bytes < offset + GC_HEAD_BYTES + sizeof(struct python_object) || !is_gc_head(head)) return false;
  head_hide(head);
  if (size_bytes >= offset + GC_HEAD_BYTES + WEAKREF_OBJECT_OFFSET + sizeof(void *) && is_weak_reference(object))
    word_hide(object + WEAKREF_OBJECT_OFFSET);
  return true;
}

static void block_visit(uintptr_t start, size_t size_bytes) {
  if (!head_visit(start, size_bytes, 0) && python.minor >= 11) head_visit(start, size_bytes, PRE_HEADER_BYTES);
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
  memset(readable_pages, 0, sizeof readable_pages);
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
