// The running Python frame, read straight from the interpreter's structs: which code object, which instruction.
// Creates nothing, takes no lock, runs no Python. The calling thread holds the GIL.
#ifndef HT_RUNNING_FRAME_H
#define HT_RUNNING_FRAME_H

#include <pthread.h>

#include "frame_layout.h"
#include "python_api.h"

struct running_frame {
  const char *code; // NULL: no Python code is running
  uint32_t offset;  // 3.11 on: of the instruction from `code`, in bytes; before: the frame's f_lasti
};

// Set when the reader below did not give what the public API gives: then the API is asked, slowly.
extern bool running_frame_slow;
// It did, at least once.
extern bool running_frame_proved;

#define CODE_UNIT_BYTES 2             // _Py_CODEUNIT
#define FRAME_TAG_BITS ((uintptr_t)3) // _PyStackRef's, 3.14; code objects are aligned to 8 bytes

HT_INLINE void *field_pointer(const void *base, uint16_t offset) {
  return *(void *const *)((const char *)base + offset);
}

// Readers take the layout, which is &frame_layout or one of its constants.
HT_INLINE bool frame_is_shim(const struct frame_layout *layout, const char *frame) {
  return layout->frame_owner != FRAME_LAYOUT_NONE && (uint8_t)frame[layout->frame_owner] >= layout->owner_shim;
}

// The calling thread's PyThreadState if it holds the GIL, else NULL. Up to 3.11 the current thread state is the
// runtime's, whichever thread asks.
HT_INLINE void *python_thread_state(void) {
  void *state = python.thread_state();
  if (!state || python.minor >= 12) return state;
  unsigned long owner = *(const unsigned long *)((const char *)state + frame_layout.tstate_thread_id);
  return owner == (unsigned long)pthread_self() ? state : NULL;
}

// The same if it holds the GIL or has let go of it inside a call from Python: its frames stand still meanwhile.
HT_INLINE void *python_thread_state_anyway(void) {
  void *state = python_thread_state();
  return state ? state : python.PyGILState_GetThisThreadState();
}

// The innermost frame of Python code, NULL: none.
HT_INLINE const char *frame_innermost(const struct frame_layout *layout, const void *thread_state) {
  const void *holder = thread_state;
  uint16_t offset = layout->tstate_frame;
  if (layout->cframe_frame != FRAME_LAYOUT_NONE) {
    holder = field_pointer(thread_state, offset);
    offset = layout->cframe_frame;
  }
  const char *frame = field_pointer(holder, offset);
  while (frame && unlikely(frame_is_shim(layout, frame))) frame = field_pointer(frame, layout->frame_previous);
  return frame;
}

HT_INLINE struct running_frame frame_read(const struct frame_layout *layout, const char *frame) {
  const char *code = (char *)((uintptr_t)field_pointer(frame, layout->frame_code) & ~FRAME_TAG_BITS);
  if (layout->code_instructions == FRAME_LAYOUT_NONE)
    return (struct running_frame){code, *(const uint32_t *)(frame + layout->frame_instruction)};
  const char *instruction = field_pointer(frame, layout->frame_instruction);
  return (struct running_frame){code, (uint32_t)(instruction - code)};
}

struct running_frame running_frame_ask(void *thread_state);

// `thread_state` as python.thread_state gives it, not NULL.
HT_INLINE struct running_frame running_frame_read(void *thread_state) {
  if (unlikely(running_frame_slow)) return running_frame_ask(thread_state);
  const char *frame = frame_innermost(&frame_layout, thread_state);
  return likely(frame != NULL) ? frame_read(&frame_layout, frame) : (struct running_frame){NULL, 0};
}

HT_INLINE const char *frame_outside(const char *frame) { return field_pointer(frame, frame_layout.frame_previous); }

// Other objects than code may stand where a frame has what it runs (3.13 on: f_executable).
HT_INLINE bool running_frame_is_code(const void *object) {
  return ((const struct python_object *)object)->type == python.code_type;
}

// Whether a code object is that of a function: by its qualified name, before 3.11 by its name, in a file whose path
// ends in `file`.
bool running_frame_code_is(const char *code, const char *qualified, const char *name, const char *file);

// Reads a frame of the interpreter's. False: it is none of Python code, or still being set up (the cells of a closure
// are made before a function's first traceable instruction), so that what happens is the caller's, as in tracebacks.
bool running_frame_at(const char *frame, struct running_frame *read);

// The frame that a new key stands for: the innermost of those. Without a proven layout the API is asked.
struct running_frame running_frame_complete(void *thread_state);

// Whether the thread has come to run the program: its outermost frame is that of a module (a script, -c, standard
// input) or runpy's (-m, a folder, a zip file), not the import system's as while the interpreter starts.
bool running_frame_is_program(void *thread_state);

// The source line of a frame, 0: unknown.
int running_frame_line(struct running_frame frame);

// Proves the reader: compares it with the public API on a thread that runs Python code (the calling one, or one that
// waits for the GIL); on a difference sets running_frame_slow. Returns whether they agreed. Creates a frame object, so
// never in a hook.
bool running_frame_prove(void *thread_state);

#endif
