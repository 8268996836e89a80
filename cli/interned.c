#include "interned.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "pool.h"

static void *item_at(const struct interned *interned, size_t number) {
  return (char *)interned->items + number * interned->item_bytes;
}

// Where `item` is, or would go.
static size_t place_find(const struct interned *interned, const void *item) {
  size_t mask = interned->table_capacity - 1, place = hash_bytes(HASH_START, item, interned->item_bytes) & mask;
  for (uint32_t number; (number = interned->table[place]); place = (place + 1) & mask)
    if (memcmp(item_at(interned, number - 1), item, interned->item_bytes) == 0) break;
  return place;
}

static void table_double(struct interned *interned) {
  free(interned->table);
  interned->table_capacity = interned->table_capacity ? interned->table_capacity * 2 : 1024;
  interned->table = memory_get(interned->table_capacity, sizeof *interned->table);
  for (size_t i = 0; i < interned->count; i++)
    interned->table[place_find(interned, item_at(interned, i))] = (uint32_t)i + 1;
}

uint32_t interned_add(struct interned *interned, const void *item) {
  if (interned->count * 2 >= interned->table_capacity) table_double(interned);
  size_t place = place_find(interned, item);
  if (interned->table[place]) return interned->table[place] - 1;
  interned->items = memory_grow(interned->items, interned->count, &interned->capacity, interned->item_bytes);
  memcpy(item_at(interned, interned->count), item, interned->item_bytes);
  interned->table[place] = (uint32_t)++interned->count;
  return interned->table[place] - 1;
}

void interned_free(struct interned *interned) {
  free(interned->items);
  free(interned->table);
  *interned = (struct interned){0};
}
