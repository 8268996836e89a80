#include "object_map.h"

#include "../native/sys.h"
#include "arenas.h"

#define SHIFT_MIN 4 // blocks are aligned to 16 bytes
#define SHIFT_MAX 9
#define POOL_BYTES (1u << 20) // slots are taken from pieces of this size

uint64_t *object_leaves[1u << (OBJECT_ADDRESS_BITS - OBJECT_LEAF_BITS)];
uint32_t object_page_bits;

static char *pool, *pool_end;
static uint32_t *slots_free[SHIFT_MAX + 1]; // chains of slot arrays that a split left over, by their page's shift

void object_map_init(uint32_t page_bits) { object_page_bits = page_bits; }

static size_t slots_bytes(uint32_t shift) { return sizeof(uint32_t) << (object_page_bits - shift); }

// Zeroed slots for a page split into pieces of 1 << shift bytes; NULL: no memory.
static uint32_t *slots_new(uint32_t shift) {
  uint32_t *slots = slots_free[shift];
  if (slots) {
    slots_free[shift] = *(uint32_t **)slots;
    *(uint32_t **)slots = NULL;
    return slots;
  }
  if ((size_t)(pool_end - pool) < slots_bytes(shift)) {
    pool = sys_map(POOL_BYTES);
    pool_end = pool ? pool + POOL_BYTES : NULL;
    if (!pool) return NULL;
  }
  slots = (uint32_t *)pool;
  pool += slots_bytes(shift);
  return slots;
}

static void slots_give_back(uint32_t *slots, uint32_t shift) {
  for (size_t i = 0; i < slots_bytes(shift) / sizeof *slots; i++) slots[i] = 0;
  *(uint32_t **)slots = slots_free[shift];
  slots_free[shift] = slots;
}

static uint64_t *descriptor_make(uintptr_t address) {
  if (address >> OBJECT_ADDRESS_BITS) return NULL;
  uint64_t **leaf = &object_leaves[address >> OBJECT_LEAF_BITS];
  if (!*leaf) *leaf = sys_map(sizeof(uint64_t) << (OBJECT_LEAF_BITS - object_page_bits));
  return *leaf ? object_descriptor(address) : NULL;
}

static bool page_make(uint64_t *descriptor, uint32_t shift) {
  uint32_t *slots = slots_new(shift);
  if (slots) *descriptor = (uint64_t)(uintptr_t)slots | (uint64_t)shift << 56;
  return slots != NULL;
}

static uint32_t shift_for(size_t size_bytes) {
  if (size_bytes < 16) size_bytes = 16;
  return 63 - (uint32_t)__builtin_clzll((size_bytes + 15) & ~(size_t)15);
}

// The offset in its page of the block that slot `i` remembers: the slot's own place and the start bits it covers.
static size_t slot_offset(uint32_t i, uint32_t shift, uint32_t value) {
  size_t start = (size_t)(value & ((1u << OBJECT_START_BITS) - 1)) << 4;
  return ((size_t)i << shift) | (start & (((size_t)1 << shift) - 1));
}

// Halves the width of a page's slots; what was in them goes to its new place.
static bool page_split(uint64_t *descriptor) {
  uint32_t shift = descriptor_shift(*descriptor);
  uint32_t *old = descriptor_slots(*descriptor);
  if (!page_make(descriptor, shift - 1)) return false;
  uint32_t *slots = descriptor_slots(*descriptor);
  for (uint32_t i = 0; i < 1u << (object_page_bits - shift); i++)
    if (old[i]) slots[slot_offset(i, shift, old[i]) >> (shift - 1)] = old[i];
  slots_give_back(old, shift);
  return true;
}

static bool same_start(uint32_t value, uintptr_t start, uint32_t shift) {
  return shift == SHIFT_MIN || (value & ((1u << OBJECT_START_BITS) - 1)) == object_start_bits(start);
}

uint32_t object_map_put_slowly(uintptr_t start, uint32_t pair, size_t size_bytes, bool *refused) {
  uint64_t *descriptor = descriptor_make(start);
  *refused = true;
  if (!descriptor) return 0;
  if (!*descriptor && (!arenas_contain(start) || !page_make(descriptor, shift_for(size_bytes)))) return 0;
  uint32_t *slot = object_slot(*descriptor, start);
  while (*slot && !same_start(*slot, start, descriptor_shift(*descriptor))) {
    if (!page_split(descriptor)) return 0;
    slot = object_slot(*descriptor, start);
  }
  uint32_t stale = *slot >> OBJECT_START_BITS;
  *slot = pair << OBJECT_START_BITS | object_start_bits(start);
  *refused = false;
  return stale;
}

void object_map_forget(uintptr_t start, size_t bytes, void (*visit)(uint32_t, void *), void *context) {
  for (uintptr_t at = start; at < start + bytes; at += 1ul << object_page_bits) {
    uint64_t *descriptor = object_descriptor(at);
    if (!descriptor || !*descriptor) continue;
    uint32_t shift = descriptor_shift(*descriptor), *slots = descriptor_slots(*descriptor);
    for (uint32_t i = 0; i < 1u << (object_page_bits - shift); i++)
      if (slots[i]) visit(slots[i] >> OBJECT_START_BITS, context);
    slots_give_back(slots, shift);
    *descriptor = 0;
  }
}

// ---- for the leak scan

// The last block of a page that starts at or before `offset`; its offset, or -1.
static long page_last_before(uint64_t descriptor, size_t offset, uint32_t *pair) {
  uint32_t shift = descriptor_shift(descriptor);
  const uint32_t *slots = descriptor_slots(descriptor);
  for (long i = (long)(offset >> shift); i >= 0 && ((size_t)i << shift) + 2 * OBJECT_BYTES_MAX > offset; i--) {
    if (!slots[i] || slot_offset((uint32_t)i, shift, slots[i]) > offset) continue;
    *pair = slots[i] >> OBJECT_START_BITS;
    return (long)slot_offset((uint32_t)i, shift, slots[i]);
  }
  return -1;
}

uintptr_t object_map_find(uintptr_t address, uint32_t *pair) {
  uintptr_t page = address & ~((1ul << object_page_bits) - 1);
  const uint64_t *descriptor = object_descriptor(address);
  long offset = descriptor && *descriptor ? page_last_before(*descriptor, address - page, pair) : -1;
  return offset >= 0 ? page + (size_t)offset : 0;
}

static bool page_each(uintptr_t page, uint64_t descriptor, bool (*visit)(uintptr_t, uint32_t, void *), void *context) {
  uint32_t shift = descriptor_shift(descriptor);
  const uint32_t *slots = descriptor_slots(descriptor);
  for (uint32_t i = 0; i < 1u << (object_page_bits - shift); i++)
    if (slots[i] && !visit(page + slot_offset(i, shift, slots[i]), slots[i] >> OBJECT_START_BITS, context))
      return false;
  return true;
}

void object_map_each(bool (*visit)(uintptr_t, uint32_t, void *), void *context) {
  for (uintptr_t top = 0; top < sizeof object_leaves / sizeof *object_leaves; top++) {
    const uint64_t *leaf = object_leaves[top];
    for (uintptr_t i = 0; leaf && i < 1ul << (OBJECT_LEAF_BITS - object_page_bits); i++)
      if (leaf[i] && !page_each(top << OBJECT_LEAF_BITS | i << object_page_bits, leaf[i], visit, context)) return;
  }
}
