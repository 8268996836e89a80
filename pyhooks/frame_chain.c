#include "frame_chain.h"

uint32_t chain_depth = 1;
struct chain chain_last;

// Frames of the C stack between those of Python code are links too, since the way leads over them.
void chain_take(const struct frame_layout *layout, const char *frame) {
  uint32_t lines = 0, count = 0;
  uint64_t hash = 0;
  for (; frame && lines < chain_depth && count < CHAIN_LINKS; frame = field_pointer(frame, layout->frame_previous)) {
    uint64_t instruction = chain_instruction(layout, frame);
    bool is_line = !frame_is_shim(layout, frame);
    if (is_line && count) hash = (hash + instruction) * CHAIN_HASH;
    lines += is_line;
    chain_last.links[count++] = (struct chain_link){frame, instruction};
  }
  chain_last.count = count;
  chain_last.outer_hash = hash ^ hash >> 29;
}

uint64_t chain_hash_at(const struct frame_layout *layout, const char *frame, uint32_t depth) {
  uint64_t hash = 1;
  for (uint32_t lines = 0; frame && lines < depth; frame = field_pointer(frame, layout->frame_previous)) {
    if (frame_is_shim(layout, frame)) continue;
    hash = (hash + chain_instruction(layout, frame)) * CHAIN_HASH;
    lines++;
  }
  return hash ^ hash >> 31;
}
