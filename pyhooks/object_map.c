#include "object_map.h"

#include <string.h>

#include "../native/sys.h"
#include "arenas.h"

#define SHIFT_MIN 4 // blocks are aligned to 16 bytes
#define SHIFT_MAX 9
#define POOL_BYTES (1u << 20) // slots are taken from pieces of this size,
#define READY_BYTES                                                                                                    \
  (1u << 17)              // whose pages are had in parts of this size: a fault for each page costs three times that
#define POPULATE_WRITE 23 // MADV_POPULATE_WRITE, Linux 5.14; before, pages come one by one

uint64_t *object_leaves[1u << (OBJECT_ADDRESS_BITS - OBJECT_LEAF_BITS)];
uint32_t object_page_bits;

static char *pool, *pool_ready, *pool_end;
static uint32_t *slots_free[SHIFT_MAX + 1]; // chains of slot arrays that a split left over, by their page's shift

static bool any_memory;
void object_map_any_memory(void) { any_memory = true; }
bool object_map_has_any_memory(void) { return any_memory; }

bool object_map_knows_page(uintptr_t address) {
  const uint64_t *descriptor = object_descriptor(address, object_page_bits);
  return descriptor && *descriptor;
}

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
    pool = pool_ready = sys_map(POOL_BYTES);
    pool_end = pool ? pool + POOL_BYTES : NULL;
    if (!pool) return NULL;
  }
  slots = (uint32_t *)pool;
  pool += slots_bytes(shift);
  if (pool > pool_ready) {
    sys_call3(SYS_madvise, (long)pool_ready, READY_BYTES, POPULATE_WRITE);
    pool_ready += READY_BYTES;
  }
  return slots;
}

// They are all 0.
static void slots_give_back(uint32_t *slots, uint32_t shift) {
  *(uint32_t **)slots = slots_free[shift];
  slots_free[shift] = slots;
}

// A leaf's descriptors, 2 to 8 MB of them, are followed by one bit for each stretch of them that was ever used: walks
// leave alone what would only be mapped to be read as 0.
#define STRETCH 512u // a page of descriptors

static size_t leaf_pages(void) { return (size_t)1 << (OBJECT_LEAF_BITS - object_page_bits); }
static void stretch_note(uint64_t *leaf, size_t page) {
  leaf[leaf_pages() + page / STRETCH / 64] |= 1ull << page / STRETCH % 64;
}
static bool stretch_is_used(const uint64_t *leaf, size_t page) {
  return leaf[leaf_pages() + page / STRETCH / 64] >> page / STRETCH % 64 & 1;
}

static uint64_t *descriptor_make(uintptr_t address) {
  if (address >> OBJECT_ADDRESS_BITS) return NULL;
  uint64_t **leaf = &object_leaves[address >> OBJECT_LEAF_BITS];
  if (!*leaf) *leaf = sys_map((leaf_pages() + leaf_pages() / STRETCH / 64) * sizeof **leaf);
  if (!*leaf) return NULL;
  uint64_t *descriptor = object_descriptor(address, object_page_bits);
  stretch_note(*leaf, (size_t)(descriptor - *leaf));
  return descriptor;
}

static uintptr_t page_of(uintptr_t address) { return address & ~((1ul << object_page_bits) - 1); }

static uint32_t *page_slots(uint64_t descriptor, uintptr_t page) { return object_slot(descriptor, page); }

static bool page_make(uint64_t *descriptor, uintptr_t page, uint32_t shift) {
  uint32_t *slots = slots_new(shift);
  if (slots) *descriptor = ((uintptr_t)slots - ((uint32_t)page >> shift) * sizeof *slots) | shift;
  return slots != NULL;
}

static uint32_t shift_for(size_t size_bytes) {
  if (size_bytes < 16) size_bytes = 16;
  return 63 - (uint32_t)__builtin_clzll((size_bytes + 15) & ~(size_t)15);
}

// The offset in its page of the block that slot `i` remembers: the slot's own place and the start bits it covers.
static size_t slot_offset(uint32_t i, uint32_t shift, uint32_t value) {
  size_t start = (size_t)(value & OBJECT_START_MASK) << 4;
  return ((size_t)i << shift) | (start & (((size_t)1 << shift) - 1));
}

// Halves the width of a page's slots; what was in them goes to its new place.
static bool page_split(uint64_t *descriptor, uintptr_t page) {
  uint32_t shift = descriptor_shift(*descriptor);
  uint32_t *old = page_slots(*descriptor, page);
  if (!page_make(descriptor, page, shift - 1)) return false;
  uint32_t *slots = page_slots(*descriptor, page);
  for (uint32_t i = 0; i < 1u << (object_page_bits - shift); i++)
    if (old[i]) slots[slot_offset(i, shift, old[i]) >> (shift - 1)] = old[i];
  memset(old, 0, slots_bytes(shift));
  slots_give_back(old, shift);
  return true;
}

static bool same_start(uint32_t value, uintptr_t start, uint32_t shift) {
  return shift == SHIFT_MIN || (value & OBJECT_START_MASK) == object_start_bits(start);
}

uint32_t object_map_put_slowly(uintptr_t start, uint32_t pair, size_t size_bytes, bool *refused) {
  uint64_t *descriptor = descriptor_make(start);
  *refused = true;
  if (!descriptor) return 0;
  bool wanted = *descriptor || (any_memory && size_bytes) || arenas_contain(start); // 0 bytes are malloc's
  if (!wanted || (!*descriptor && !page_make(descriptor, page_of(start), shift_for(size_bytes)))) return 0;
  uint32_t *slot = object_slot(*descriptor, start);
  while (*slot && !same_start(*slot, start, descriptor_shift(*descriptor))) {
    if (!page_split(descriptor, page_of(start))) return 0;
    slot = object_slot(*descriptor, start);
  }
  uint32_t stale = *slot >> OBJECT_START_BITS;
  *slot = pair << OBJECT_START_BITS | object_start_bits(start);
  *refused = false;
  return stale;
}

// Two at a time: an arena that goes is empty as a rule.
static void slots_forget(uint32_t *slots, void (*visit)(uint32_t, void *), void *context) {
  uint64_t both;
  memcpy(&both, slots, sizeof both);
  if (!both) return;
  for (int i = 0; i < 2; i++)
    if (slots[i]) visit(slots[i] >> OBJECT_START_BITS, context);
  memset(slots, 0, sizeof both);
}

void object_map_forget(uintptr_t start, size_t bytes, void (*visit)(uint32_t, void *), void *context) {
  for (uintptr_t at = start; at < start + bytes; at += 1ul << object_page_bits) {
    uint64_t *descriptor = object_descriptor(at, object_page_bits);
    if (!descriptor || !*descriptor) continue;
    uint32_t shift = descriptor_shift(*descriptor), *slots = page_slots(*descriptor, page_of(at));
    for (uint32_t i = 0; i < 1u << (object_page_bits - shift); i += 2) slots_forget(slots + i, visit, context);
    slots_give_back(slots, shift);
    *descriptor = 0;
  }
}

// ---- for the leak scan

// The last block of a page that starts at or before `offset`; its offset, or -1.
static long page_last_before(uint64_t descriptor, uintptr_t page, size_t offset, uint32_t *pair) {
  uint32_t shift = descriptor_shift(descriptor);
  const uint32_t *slots = page_slots(descriptor, page);
  for (long i = (long)(offset >> shift); i >= 0 && ((size_t)i << shift) + 2 * OBJECT_BYTES_MAX > offset; i--) {
    if (!slots[i] || slot_offset((uint32_t)i, shift, slots[i]) > offset) continue;
    *pair = slots[i] >> OBJECT_START_BITS;
    return (long)slot_offset((uint32_t)i, shift, slots[i]);
  }
  return -1;
}

uintptr_t object_map_find_slowly(uint64_t descriptor, uintptr_t address, uint32_t *pair) {
  uintptr_t page = page_of(address);
  long offset = page_last_before(descriptor, page, address - page, pair);
  return offset >= 0 ? page + (size_t)offset : 0;
}

uintptr_t object_map_find(uintptr_t address, uint32_t *pair) {
  const uint64_t *descriptor = object_descriptor(address, object_page_bits);
  return descriptor && *descriptor ? object_map_find_in(*descriptor, address, pair) : 0;
}

static bool page_each(uintptr_t page, uint64_t descriptor, bool (*visit)(uintptr_t, uint32_t, void *), void *context) {
  uint32_t shift = descriptor_shift(descriptor);
  const uint32_t *slots = page_slots(descriptor, page);
  for (uint32_t i = 0; i < 1u << (object_page_bits - shift); i++)
    if (slots[i] && !visit(page + slot_offset(i, shift, slots[i]), slots[i] >> OBJECT_START_BITS, context))
      return false;
  return true;
}

static bool stretch_each(uintptr_t top, size_t first, bool (*visit)(uintptr_t, uint32_t, void *), void *context) {
  const uint64_t *leaf = object_leaves[top];
  for (size_t i = first; i < first + STRETCH; i++)
    if (leaf[i] && !page_each(top << OBJECT_LEAF_BITS | i << object_page_bits, leaf[i], visit, context)) return false;
  return true;
}

void object_map_each(bool (*visit)(uintptr_t, uint32_t, void *), void *context) {
  for (uintptr_t top = 0; top < sizeof object_leaves / sizeof *object_leaves; top++)
    for (size_t first = 0; object_leaves[top] && first < leaf_pages(); first += STRETCH)
      if (stretch_is_used(object_leaves[top], first) && !stretch_each(top, first, visit, context)) return;
}
