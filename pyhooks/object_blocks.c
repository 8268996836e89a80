#include "object_blocks.h"

#include "../native/live.h"
#include "object_count.h"
#include "object_fields.h"
#include "object_map.h"

// An object's own block begins up to this much before it: the collector's head, and what 3.11 and 3.12 put before that.
#define HEAD_MAX 32

struct block object_block_at(uintptr_t address) {
  uint32_t pair;
  uintptr_t start = object_map_find(address, &pair);
  struct block block = {.start = start};
  // Without the GIL the map may be changing: what it answers then is in the table at least.
  if (start && pair < pair_count && address < start + pair_table[pair].size_bytes) {
    block.size_bytes = pair_table[pair].size_bytes;
    block.site = line_table[pair_lines[pair].value].site;
    return block;
  }
  for (uintptr_t before = 0; before <= HEAD_MAX; before += 16)
    if (live_peek(address - before, &block)) return block;
  return (struct block){0};
}

static void buffer_visit(uintptr_t address, const void *owner, object_buffer_visit visit, uint32_t context) {
  if (address & 15 || address < 4096 || address >> OBJECT_ADDRESS_BITS) return;
  struct block block = object_block_at(address);
  if (block.site.value && block.start == address) visit(&block, owner, context);
}

// Of an object's own memory this much is looked at.
#define BODY_MAX 512

void object_buffers_each(const void *object, object_buffer_visit visit, uint32_t context) {
  const void *values = object_values_block(object);
  struct block block = values ? object_block_at((uintptr_t)values) : (struct block){0};
  if (block.site.value) visit(&block, object, context);
  enum object_sort sort = object_sort(object);
  if (sort == SORT_TEXT || sort == SORT_NUMBER || sort == SORT_TUPLE || sort == SORT_TYPE) return;
  size_t bytes = object_basic_bytes(object);
  if (bytes > BODY_MAX) bytes = BODY_MAX;
  for (size_t at = sizeof(struct python_object); at + 8 <= bytes; at += 8)
    buffer_visit(*(const uintptr_t *)((const char *)object + at), object, visit, context);
}
