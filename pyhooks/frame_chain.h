// `--py-depth N`: the N innermost frames of Python code as one key.
//
// An allocation often comes from the same frames as the last one, but for the innermost one's instruction. So the
// frames of the last chain are remembered: while each still leads to the next and stands at the same instruction, the
// outer part of the key is known.
#ifndef HT_FRAME_CHAIN_H
#define HT_FRAME_CHAIN_H

#include "running_frame.h"

#define CHAIN_MAX 128u                   // frames of Python code
#define CHAIN_LINKS (2u * CHAIN_MAX + 1) // with those of the C stack between them

extern HT_HIDDEN uint32_t chain_depth; // frames kept of Python code, 1: the running one

// What a key is made of besides the size. The instruction is the code object's address + the frame's offset, which has
// 32 bits, so that half of the code object's address is enough to tell code objects apart. Of a chain both are parts of
// a hash.
struct frame_key {
  uint64_t instruction; // 48 bits
  uint32_t code_bits;   // bits 4 to 35 of the code object's address
};

HT_INLINE struct frame_key frame_key_of(struct running_frame frame) {
  return (struct frame_key){(uint64_t)(uintptr_t)frame.code + frame.offset, (uint32_t)((uintptr_t)frame.code >> 4)};
}

// The frames as remembered: [0] was the innermost. Guarded as the tables are.
struct chain_link {
  const char *frame;
  uint64_t instruction;
};
struct chain {
  struct chain_link links[CHAIN_LINKS];
  uint32_t count;
  uint64_t outer_hash; // of links[1] on
};
extern HT_HIDDEN struct chain chain_last;

// Remembers the chain that begins with `frame` anew.
void chain_take(const struct frame_layout *layout, const char *frame);

HT_INLINE uint64_t chain_instruction(const struct frame_layout *layout, const char *frame) {
  uint64_t instruction = *(const uint64_t *)(frame + layout->frame_instruction);
  if (layout->code_instructions != FRAME_LAYOUT_NONE) return instruction;
  return (uintptr_t)field_pointer(frame, layout->frame_code) ^ (uint64_t)(uint32_t)instruction << 40;
}

// Only a frame that a living one leads to is looked at: what another thread left behind is gone.
HT_INLINE bool chain_is_last(const struct frame_layout *layout, const char *frame) {
  const struct chain_link *link = chain_last.links, *end = link + chain_last.count;
  if (unlikely(link->frame != frame)) return false;
  for (link++; link < end; link++) {
    if (field_pointer(link[-1].frame, layout->frame_previous) != link->frame) return false;
    if (chain_instruction(layout, link->frame) != link->instruction) return false;
  }
  return true;
}

#define CHAIN_HASH 0x9E3779B97F4A7C55ull // odd: multiplication is a bijection

HT_INLINE uint64_t chain_hash(const struct frame_layout *layout, const char *frame) {
  if (unlikely(!chain_is_last(layout, frame))) chain_take(layout, frame);
  uint64_t hash = (chain_last.outer_hash ^ chain_instruction(layout, frame)) * CHAIN_HASH;
  return hash ^ hash >> 32;
}

// Of `depth` frames of Python code at most; nothing is remembered.
uint64_t chain_hash_at(const struct frame_layout *layout, const char *frame, uint32_t depth);

HT_INLINE struct frame_key frame_key_of_chain(const struct frame_layout *layout, const char *frame) {
  uint64_t hash = chain_hash(layout, frame);
  return (struct frame_key){hash & 0xffffffffffffull, (uint32_t)(hash >> 32)};
}

#endif
