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
// Only blocks in arenas are kept here; with PYTHONMALLOC=malloc there are none.
//
// Changed only by threads with the GIL.
#ifndef HT_OBJECT_MAP_H
#define HT_OBJECT_MAP_H

#include "../native/words.h"

#define OBJECT_BYTES_MAX 512 // SMALL_REQUEST_THRESHOLD, Objects/obmalloc.c: larger ones are malloc's
#define OBJECT_PAIR_BITS 27
#define OBJECT_START_BITS 5
#define OBJECT_LEAF_BITS 32
#define OBJECT_ADDRESS_BITS 47

// A page's descriptor: slots (48 bits) | shift << 56; 0: no block was ever here.
extern uint64_t *object_leaves[1u << (OBJECT_ADDRESS_BITS - OBJECT_LEAF_BITS)];
extern uint32_t object_page_bits;

// `page_bits`: of the interpreter's pools, so that a page holds blocks of one size class most of the time.
void object_map_init(uint32_t page_bits);

HT_INLINE uint32_t *descriptor_slots(uint64_t descriptor) { return (uint32_t *)(descriptor & 0xffffffffffffull); }
HT_INLINE uint32_t descriptor_shift(uint64_t descriptor) { return (uint32_t)(descriptor >> 56); }

HT_INLINE uint64_t *object_descriptor(uintptr_t address) {
  if (unlikely(address >> OBJECT_ADDRESS_BITS)) return NULL;
  uint64_t *leaf = object_leaves[address >> OBJECT_LEAF_BITS];
  if (unlikely(!leaf)) return NULL;
  return &leaf[(address & ((1ull << OBJECT_LEAF_BITS) - 1)) >> object_page_bits];
}

HT_INLINE uint32_t *object_slot(uint64_t descriptor, uintptr_t address) {
  return descriptor_slots(descriptor) + ((address & ((1ull << object_page_bits) - 1)) >> descriptor_shift(descriptor));
}

HT_INLINE uint32_t object_start_bits(uintptr_t address) {
  return (uint32_t)(address >> 4) & ((1u << OBJECT_START_BITS) - 1);
}

// Remembers the block of `size_bytes` (1 to OBJECT_BYTES_MAX; 0 counts as 1) at `start`. Returns the pair of a block
// that was still noted there (its free was never seen), 0: none. `*refused` is set when the block is not in an arena
// or there is no memory for a slot.
uint32_t object_map_put_slowly(uintptr_t start, uint32_t pair, size_t size_bytes, bool *refused);

// The usual case, in which the block's page is known and its slot empty. False: not so, nothing was done.
HT_INLINE bool object_map_put_quickly(uintptr_t start, uint32_t pair) {
  uint64_t *descriptor = object_descriptor(start);
  if (unlikely(!descriptor || !*descriptor)) return false;
  uint32_t *slot = object_slot(*descriptor, start);
  if (unlikely(*slot)) return false;
  *slot = pair << OBJECT_START_BITS | object_start_bits(start);
  return true;
}

HT_INLINE uint32_t object_map_put(uintptr_t start, uint32_t pair, size_t size_bytes, bool *refused) {
  return likely(object_map_put_quickly(start, pair)) ? 0 : object_map_put_slowly(start, pair, size_bytes, refused);
}

// Forgets the block that starts at `start`; its pair, 0: none known.
HT_INLINE uint32_t object_map_take(uintptr_t start) {
  uint64_t *descriptor = object_descriptor(start);
  if (unlikely(!descriptor || !*descriptor)) return 0;
  uint32_t *slot = object_slot(*descriptor, start), value = *slot;
  if (unlikely(value == 0 || (value & ((1u << OBJECT_START_BITS) - 1)) != object_start_bits(start))) return 0;
  *slot = 0;
  return value >> OBJECT_START_BITS;
}

// An arena goes: its pages hold no blocks any more. `visit` is told of those that it still had (a subinterpreter's are
// dropped with their arenas).
void object_map_forget(uintptr_t start, size_t bytes, void (*visit)(uint32_t pair, void *context), void *context);

// The last block that starts at or before `address` in its page; its start, 0: none. Whether `address` still lies in
// it, the caller knows from the pair's size.
uintptr_t object_map_find(uintptr_t address, uint32_t *pair);
// Each block in address order, until `visit` returns false.
void object_map_each(bool (*visit)(uintptr_t start, uint32_t pair, void *context), void *context);

#endif
