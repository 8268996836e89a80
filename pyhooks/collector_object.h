// Which blocks are objects that CPython's cyclic collector knows. Read from memory alone: nothing of it is created,
// called or changed. The caller holds the GIL.
#ifndef HT_COLLECTOR_OBJECT_H
#define HT_COLLECTOR_OBJECT_H

#include "../native/words.h"

// PyGC_Head {next, prev}, Include/internal/pycore_gc.h: stands right before the object; flags in the low bits.
#define GC_HEAD_BYTES 16
#define GC_FLAG_BITS 7ul
// Set in links that are hidden (object_links.h): no address has it.
#define GC_LINK_HIDDEN (1ul << 63)

// Pages that could be read are remembered from here on: memory must not be unmapped until the last question.
void collector_object_begin(void);

// The tracked object in the block, NULL: none. `object` - GC_HEAD_BYTES is its head.
char *collector_object_in(uintptr_t start, size_t size_bytes);

bool collector_object_is_weak_reference(const char *object);

// Any object: whether its type takes part in the collector's work (it need not be tracked).
bool collector_object_is_container(const char *object);

// Its type's tp_traverse (Include/object.h: traverseproc).
typedef int (*python_visit)(void *object, void *context);
typedef int (*python_traverse)(void *object, python_visit visit, void *context);
python_traverse collector_object_traverse(const char *object);

// References counted; of immortal objects some huge number.
int64_t collector_object_references(const char *object);

HT_INLINE uintptr_t gc_link(uintptr_t address) { return *(uintptr_t *)address & ~(GC_FLAG_BITS | GC_LINK_HIDDEN); }

#endif
