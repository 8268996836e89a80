#include "frame_layout.h"

#include <string.h>

struct frame_layout frame_layout;

#define NONE FRAME_LAYOUT_NONE
static const struct frame_layout layouts[] = {
#define LAYOUT(...) {__VA_ARGS__},
#include "frame_layout.def"
#undef LAYOUT
};

// _Py_DebugOffsets stands at the start of _PyRuntime: a cookie, then 64-bit words in groups, one for each struct,
// each group beginning with the struct's size (Include/internal/pycore_runtime.h in 3.13, pycore_debug_offsets.h in
// 3.14, which added three words to the group of the interpreter's state and two to the frame's).
#define COOKIE "xdebugpy" // _Py_Debug_Cookie
struct offset_words {
  uint8_t thread, frame, code; // index of the group's first word
};
static const struct offset_words words_3_13 = {19, 28, 34}, words_3_14 = {22, 31, 39};
enum { THREAD_CURRENT_FRAME = 4, THREAD_ID = 5, THREAD_DATASTACK_CHUNK = 7 };
enum { FRAME_SIZE = 0, FRAME_PREVIOUS = 1, FRAME_EXECUTABLE = 2, FRAME_INSTR_PTR = 3, FRAME_OWNER = 5 };
enum { CODE_SIZE = 0, CODE_FILENAME = 1, CODE_QUALNAME = 3, CODE_CO_CODE_ADAPTIVE = 9 };

#define OWNER_INTERPRETER 3 // FRAME_OWNED_BY_CSTACK in 3.13, FRAME_OWNED_BY_INTERPRETER in 3.14

// A wrong guess at the groups would give offsets outside the structs.
static bool plausible(const uint64_t *frame, const uint64_t *code) {
  return frame[FRAME_SIZE] < 512 && frame[FRAME_OWNER] < frame[FRAME_SIZE] &&
         frame[FRAME_INSTR_PTR] < frame[FRAME_SIZE] && frame[FRAME_PREVIOUS] < frame[FRAME_SIZE] &&
         code[CODE_SIZE] < 1024 && code[CODE_FILENAME] < code[CODE_SIZE] &&
         code[CODE_CO_CODE_ADAPTIVE] <= code[CODE_SIZE];
}

static bool layout_published(int minor, const uint64_t *words) {
  if (!words || memcmp(words, COOKIE, sizeof *words) != 0) return false;
  const struct offset_words *at = minor == 13 ? &words_3_13 : &words_3_14;
  const uint64_t *thread = words + at->thread, *frame = words + at->frame, *code = words + at->code;
  if (!plausible(frame, code)) return false;
  frame_layout = (struct frame_layout){
      .minor = (uint16_t)minor,
      .tstate_thread_id = (uint16_t)thread[THREAD_ID],
      .tstate_frame = (uint16_t)thread[THREAD_CURRENT_FRAME],
      .cframe_frame = NONE,
      .frame_code = (uint16_t)frame[FRAME_EXECUTABLE],
      .frame_previous = (uint16_t)frame[FRAME_PREVIOUS],
      .frame_instruction = (uint16_t)frame[FRAME_INSTR_PTR],
      .frame_owner = (uint16_t)frame[FRAME_OWNER],
      .owner_shim = OWNER_INTERPRETER,
      .code_filename = (uint16_t)code[CODE_FILENAME],
      .code_name = (uint16_t)code[CODE_QUALNAME],
      .code_instructions = (uint16_t)code[CODE_CO_CODE_ADAPTIVE],
      .tstate_chunk = (uint16_t)thread[THREAD_DATASTACK_CHUNK],
  };
  return true;
}

bool frame_layout_set(int minor, const void *runtime) {
  if (minor >= 13) return layout_published(minor, runtime);
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
    if (layouts[i].minor == minor) return frame_layout = layouts[i], true;
  return false;
}
