// Where Python's small objects are: 4 bytes for each block, and little for memory that holds none.
//
//   address 47..32   32..page_bits        page_bits..0
//           leaf     page in the leaf     slot = offset >> shift of its page
//
// A page has a descriptor: its slots and their width (shift). The width is the largest power of two that is not
// above the first block's size class, so that each slot has at most one block's start; a smaller block that comes
// later splits the page anew. A slot holds the id of the block's (line, size) pair and address bits 4 to 8, which
// tell where in the slot the block starts. The widest slot is 512 bytes, so five bits are enough.
//
// Only blocks in arenas are kept here; with PYTHONMALLOC=malloc there are none. In an interpreter that was attached to,
// whose older arenas nobody knows, small blocks of any memory are.
//
// Changed only by threads with the GIL.
#ifndef HT_OBJECT_MAP_H
#define HT_OBJECT_MAP_H

#include "../native/words.h"

#define OBJECT_BYTES_MAX 512 // SMALL_REQUEST_THRESHOLD, Objects/obmalloc.c: larger ones are malloc's
#define OBJECT_PAIR_BITS 27
#define OBJECT_START_BITS 5
#define OBJECT_START_MASK ((1u << OBJECT_START_BITS) - 1)
#define OBJECT_LEAF_BITS 32
#define OBJECT_ADDRESS_BITS 47

// A page's descriptor: where the slots would begin if the page were the first of its leaf, | shift; 0: no block was
// ever here. So the slot of an address is found without the page's start.
extern HT_HIDDEN uint64_t *object_leaves[1u << (OBJECT_ADDRESS_BITS - OBJECT_LEAF_BITS)];
extern HT_HIDDEN uint32_t object_page_bits;

// `page_bits`: of the interpreter's pools, so that a page holds blocks of one size class most of the time.
void object_map_init(uint32_t page_bits);
void object_map_any_memory(void);
bool object_map_has_any_memory(void);
// Whether a small block was seen in the page of `address`.
bool object_map_knows_page(uintptr_t address);

#define DESCRIPTOR_SHIFT 31ul // its bits; slots are at multiples of 32 bytes
HT_INLINE uint32_t descriptor_shift(uint64_t descriptor) { return (uint32_t)(descriptor & DESCRIPTOR_SHIFT); }

// `page_bits`: object_page_bits, or the same as a constant.
HT_INLINE uint64_t *object_descriptor(uintptr_t address, uint32_t page_bits) {
  uintptr_t top = address >> OBJECT_LEAF_BITS;
  if (unlikely(top >= sizeof object_leaves / sizeof *object_leaves)) return NULL;
  uint64_t *leaf = object_leaves[top];
  if (unlikely(!leaf)) return NULL;
  return &leaf[(uint32_t)address >> page_bits];
}
_Static_assert(OBJECT_LEAF_BITS == 32, "an address's place in its leaf is its lower half");

HT_INLINE uint32_t *object_slot(uint64_t descriptor, uintptr_t address) {
  uint64_t place = (uint32_t)address >> (descriptor & DESCRIPTOR_SHIFT);
  return (uint32_t *)((descriptor & ~DESCRIPTOR_SHIFT) + place * sizeof(uint32_t));
}

HT_INLINE uint32_t object_start_bits(uintptr_t address) { return (uint32_t)(address >> 4) & OBJECT_START_MASK; }

// The slot of the block at `address`, whether there is one or not; NULL: none in its page.
HT_INLINE uint32_t *object_slot_at(uintptr_t address, uint32_t page_bits) {
  const uint64_t *descriptor = object_descriptor(address, page_bits);
  if (unlikely(!descriptor || !*descriptor)) return NULL;
  return object_slot(*descriptor, address);
}

// Remembers the block of `size_bytes` (1 to OBJECT_BYTES_MAX; 0 counts as 1) at `start`. Returns the pair of a block
// that was still noted there (its free was never seen), 0: none. `*refused` is set when the block is not in an arena
// or there is no memory for a slot.
uint32_t object_map_put_slowly(uintptr_t start, uint32_t pair, size_t size_bytes, bool *refused);

// The usual case, in which the block's page is known and its slot empty. False: not so, nothing was done.
HT_INLINE bool object_map_put_quickly(uintptr_t start, uint32_t pair, uint32_t page_bits) {
  uint32_t *slot = object_slot_at(start, page_bits);
  if (unlikely(!slot || *slot)) return false;
  *slot = pair << OBJECT_START_BITS | object_start_bits(start);
  return true;
}

HT_INLINE uint32_t object_map_put(uintptr_t start, uint32_t pair, size_t size_bytes, bool *refused) {
  if (likely(object_map_put_quickly(start, pair, object_page_bits))) return 0;
  return object_map_put_slowly(start, pair, size_bytes, refused);
}

// Forgets the block that starts at `start`; its pair, 0: none known.
HT_INLINE uint32_t object_map_take(uintptr_t start, uint32_t page_bits) {
  uint32_t *slot = object_slot_at(start, page_bits);
  if (unlikely(!slot || (*slot & OBJECT_START_MASK) != object_start_bits(start))) return 0;
  uint32_t pair = *slot >> OBJECT_START_BITS;
  *slot = 0;
  return pair;
}

// An arena goes: its pages hold no blocks any more. `visit` is told of those that it still had (a subinterpreter's are
// dropped with their arenas).
void object_map_forget(uintptr_t start, size_t bytes, void (*visit)(uint32_t pair, void *context), void *context);

// The last block that starts at or before `address` in its page; its start, 0: none. Whether `address` still lies in
// it, the caller knows from the pair's size.
uintptr_t object_map_find(uintptr_t address, uint32_t *pair);
// The same of an address in a page that has `descriptor`.
uintptr_t object_map_find_slowly(uint64_t descriptor, uintptr_t address, uint32_t *pair);
HT_INLINE uintptr_t object_map_find_in(uint64_t descriptor, uintptr_t address, uint32_t *pair) {
  uint32_t value = *object_slot(descriptor, address), shift = descriptor_shift(descriptor);
  uintptr_t slot_start = address >> shift << shift;
  uintptr_t start = slot_start | ((uintptr_t)(value & OBJECT_START_MASK) << 4 & ((1ul << shift) - 1));
  if (unlikely(!value || start > address)) return object_map_find_slowly(descriptor, address, pair);
  *pair = value >> OBJECT_START_BITS; // most pointers lead to where a block starts, or to its slot
  return start;
}
// Each block in address order, until `visit` returns false.
void object_map_each(bool (*visit)(uintptr_t start, uint32_t pair, void *context), void *context);

#endif
