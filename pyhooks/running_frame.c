#include "running_frame.h"

#include <string.h>

#include "detour.h"
#include "python_name.h"

bool running_frame_slow, running_frame_proved;

// A frame answered by the API carries its line instead of an instruction.
#define OFFSET_IS_LINE 0x80000000u

#define OWNED_BY_GENERATOR 1    // FRAME_OWNED_BY_GENERATOR, Include/internal/pycore_frame.h
#define FIRST_TRACEABLE_BACK 16 // PyCodeObject: int _co_firsttraceable, void *co_extra, then co_code_adaptive

// The argument of PyCode_Addr2Line: the index of the instruction in bytes (3.10's f_lasti counts code units).
static int frame_address(struct running_frame frame) {
  if (frame_layout.code_instructions != FRAME_LAYOUT_NONE) return (int)frame.offset - frame_layout.code_instructions;
  return frame_layout.minor == 10 ? (int)frame.offset * CODE_UNIT_BYTES : (int)frame.offset;
}

// _PyFrame_IsIncomplete, Include/internal/pycore_frame.h of 3.11 to 3.13.
static bool is_incomplete(const char *frame, struct running_frame read) {
  if (frame_layout.code_instructions == FRAME_LAYOUT_NONE) return false;
  if (frame[frame_layout.frame_owner] == OWNED_BY_GENERATOR) return false;
  int first;
  memcpy(&first, read.code + frame_layout.code_instructions - FIRST_TRACEABLE_BACK, sizeof first);
  return frame_address(read) < first * CODE_UNIT_BYTES;
}

bool running_frame_at(const char *frame, struct running_frame *read) {
  if (frame_is_shim(&frame_layout, frame)) return false;
  *read = frame_read(&frame_layout, frame);
  return read->code && running_frame_is_code(read->code) && !is_incomplete(frame, *read);
}

struct running_frame running_frame_complete(void *thread_state) {
  if (unlikely(running_frame_slow)) return running_frame_ask(thread_state);
  struct running_frame read;
  for (const char *frame = frame_innermost(&frame_layout, thread_state); frame; frame = frame_outside(frame))
    if (running_frame_at(frame, &read)) return read;
  return (struct running_frame){NULL, 0};
}

static bool name_is(const char *code, const char *wanted) {
  return python_string_is(field_pointer(code, frame_layout.code_name), wanted);
}

bool running_frame_code_is(const char *code, const char *qualified, const char *name, const char *file) {
  return name_is(code, python.minor >= 11 ? qualified : name) && // co_qualname, co_name
         python_string_ends_in(field_pointer(code, frame_layout.code_filename), file);
}

bool running_frame_is_program(void *thread_state) {
  if (!python.Py_IsInitialized()) return false;
  const char *code = NULL;
  for (const char *frame = frame_innermost(&frame_layout, thread_state); frame; frame = frame_outside(frame))
    if (!frame_is_shim(&frame_layout, frame)) code = frame_read(&frame_layout, frame).code;
  return code && running_frame_is_code(code) && (name_is(code, "<module>") || name_is(code, "_run_module_as_main"));
}

int running_frame_line(struct running_frame frame) {
  if (!frame.code) return 0;
  if (running_frame_slow && frame.offset & OFFSET_IS_LINE) return (int)(frame.offset & ~OFFSET_IS_LINE);
  int line = python.PyCode_Addr2Line((void *)frame.code, frame_address(frame));
  return line > 0 ? line : 0;
}

// The frame object that this makes is given back at once; the hooks pass its allocation through.
struct running_frame running_frame_ask(void *thread_state) {
  void *frame = python.PyThreadState_GetFrame(thread_state);
  if (!frame) return (struct running_frame){NULL, 0};
  void *code = python.PyFrame_GetCode(frame);
  int line = python.PyFrame_GetLineNumber(frame);
  python.Py_DecRef(code); // the running frame holds it
  python.Py_DecRef(frame);
  return (struct running_frame){code, OFFSET_IS_LINE | (uint32_t)(line > 0 ? line : 0)};
}

bool running_frame_prove(void *thread_state) {
  struct running_frame read = running_frame_complete(thread_state);
  struct running_frame asked = running_frame_ask(thread_state);
  if (read.code == asked.code && running_frame_line(read) == (int)(asked.offset & ~OFFSET_IS_LINE))
    return running_frame_proved = true;
  running_frame_slow = true;
  detour_set(DETOUR_FRAMES);
  return false;
}
