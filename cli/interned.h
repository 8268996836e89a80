// Items of one size kept once: equal items (byte by byte) get the same number, counted from 0 in the order they came.
#ifndef HT_INTERNED_H
#define HT_INTERNED_H

#include <stddef.h>
#include <stdint.h>

struct interned {
  void *items;
  size_t item_bytes; // set by whoever makes it; the rest begins as 0
  size_t count, capacity;
  uint32_t *table; // open hash table of number + 1
  size_t table_capacity;
};

// The number of `item`, which has no padding.
uint32_t interned_add(struct interned *interned, const void *item);

void interned_free(struct interned *interned);

#endif
