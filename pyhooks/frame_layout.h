// CPython's struct layouts as far as the frame reader needs them.
#ifndef HT_FRAME_LAYOUT_H
#define HT_FRAME_LAYOUT_H

#include "../native/words.h"

#define FRAME_LAYOUT_NONE 0xffffu

// Offsets in bytes, see frame_layout.def.
struct frame_layout {
  uint16_t minor;
  uint16_t tstate_thread_id;
  uint16_t tstate_frame; // of the frame, or of the cframe that leads to it
  uint16_t cframe_frame; // NONE: tstate_frame is the frame itself
  uint16_t frame_code;   // 3.14 keeps tags in the two low bits of the pointer there
  uint16_t frame_previous;
  uint16_t frame_instruction; // a pointer into the code object; with code_instructions NONE an int, the index
  uint16_t frame_owner;       // NONE: every frame is one of Python code
  uint16_t owner_shim;        // frames with this owner or a larger one belong to the C stack
  uint16_t code_filename, code_name;
  uint16_t code_instructions;
  uint16_t tstate_chunk; // datastack_chunk
};
extern struct frame_layout frame_layout;

// The same as constants: readers that are compiled for one of them look nothing up.
#define LAYOUT(minor_, ...) static const struct frame_layout frame_layout_##minor_ = {minor_, __VA_ARGS__};
#define NONE FRAME_LAYOUT_NONE
#include "frame_layout.def"
#undef NONE
#undef LAYOUT

// Bits of the size of a pool, in which blocks have one size class: POOL_SIZE, Objects/obmalloc.c (3.9),
// Include/internal/pycore_obmalloc.h.
HT_INLINE uint32_t frame_layout_pool_bits(int minor) { return minor == 9 ? 12 : 14; }

// Fills frame_layout for `minor`; `runtime` is &_PyRuntime or NULL. False: this Python's layout is not known.
bool frame_layout_set(int minor, const void *runtime);

#endif
