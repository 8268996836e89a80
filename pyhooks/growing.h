// Arrays in heaptide's own memory that grow by copying. Their readers hold the GIL, or the world is parked.
#ifndef HT_GROWING_H
#define HT_GROWING_H

#include <string.h>

#include "../native/sys.h"
#include "../native/words.h"

// Makes room for `needed` items of `item_bytes` in the array *items of *capacity items: at least twice as many as before.
// False: no memory, everything is as it was.
HT_INLINE bool growing_reserve(void **items, uint32_t *capacity, uint32_t needed, size_t item_bytes) {
  if (likely(needed <= *capacity)) return true;
  uint32_t larger_capacity = *capacity ? *capacity * 2 : 1024;
  while (larger_capacity < needed) larger_capacity *= 2;
  void *larger = sys_map((size_t)larger_capacity * item_bytes);
  if (!larger) return false;
  if (*items) {
    memcpy(larger, *items, (size_t)*capacity * item_bytes);
    sys_unmap(*items, (size_t)*capacity * item_bytes);
  }
  *items = larger;
  *capacity = larger_capacity;
  return true;
}

#endif
