// Arrays in heaptide's own memory that grow by copying. Only their writer, with the GIL, makes them grow.
#ifndef HT_GROWING_H
#define HT_GROWING_H

#include <string.h>

#include "sys.h"
#include "words.h"

// Makes room for `needed` items of `item_bytes` in the array *items of *capacity items: at least twice as many as
// before. False: no memory, everything is as it was. The old array stays mapped when others may be reading it.
HT_INLINE bool growing_reserve_shared(void **items, uint32_t *capacity, uint32_t needed, size_t item_bytes) {
  if (likely(needed <= *capacity)) return true;
  uint32_t larger_capacity = *capacity ? *capacity * 2 : 1024;
  while (larger_capacity < needed) larger_capacity *= 2;
  void *larger = sys_map((size_t)larger_capacity * item_bytes);
  if (!larger) return false;
  if (*items) memcpy(larger, *items, (size_t)*capacity * item_bytes);
  __atomic_store_n(items, larger, __ATOMIC_RELEASE);
  *capacity = larger_capacity;
  return true;
}

// The same for an array that nobody else reads.
HT_INLINE bool growing_reserve(void **items, uint32_t *capacity, uint32_t needed, size_t item_bytes) {
  void *old = *items;
  size_t old_bytes = (size_t)*capacity * item_bytes;
  if (!growing_reserve_shared(items, capacity, needed, item_bytes)) return false;
  if (old && old != *items) sys_unmap(old, old_bytes);
  return true;
}

#endif
