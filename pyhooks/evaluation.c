#include "evaluation.h"

#include "../native/cfi.h"
#include "../native/modules.h"
#include "running_frame.h"

// What each version keeps in the stack frame of the evaluator:
//   3.9         nothing: the function's code has to do
//   3.10, 3.11  a CFrame for each call of it, PyThreadState.cframe being the innermost (Include/cpython/pystate.h)
//   3.12 on     a frame owned by the C stack, right outside the frames that this call runs (entry_frame of
//               _PyEval_EvalFrameDefault, Python/ceval.c)
#define CFRAME_3_10 48 // PyThreadState.cframe
#define CFRAME_3_11 56
#define CFRAME_PREVIOUS_3_10 8
#define CFRAME_PREVIOUS_3_11 16
#define IS_ENTRY_3_11 68 // _PyInterpreterFrame.is_entry, Include/internal/pycore_frame.h: the outermost frame of a call

#define LOOK_MAX 100000 // a longer chain of frames is not looked at

// From 3.12 on. Frames are counted until the frame is met that marks them all.
static uint32_t marks_by_shim(const void *thread_state, uintptr_t *marks, uint32_t capacity) {
  const char *frame = field_pointer(thread_state, frame_layout.tstate_frame);
  if (frame_layout.cframe_frame != FRAME_LAYOUT_NONE) frame = field_pointer(frame, frame_layout.cframe_frame);
  uint32_t marked = 0, count = 0;
  struct running_frame read;
  for (int i = 0; frame && marked < capacity && i < LOOK_MAX; i++, frame = frame_outside(frame)) {
    if (frame_is_shim(&frame_layout, frame))
      while (marked < count) marks[marked++] = (uintptr_t)frame;
    else if (count < capacity && running_frame_at(frame, &read))
      count++;
  }
  return marked;
}

// 3.10, where each frame has a call of its own, and 3.11.
static uint32_t marks_by_cframe(const void *thread_state, uintptr_t *marks, uint32_t capacity) {
  bool shared = frame_layout.minor == 11;
  const char *call = field_pointer(thread_state, shared ? CFRAME_3_11 : CFRAME_3_10);
  const char *frame = frame_innermost(&frame_layout, thread_state);
  uint32_t count = 0;
  struct running_frame read;
  for (; frame && call && count < capacity; frame = frame_outside(frame)) {
    if (running_frame_at(frame, &read)) marks[count++] = (uintptr_t)call;
    if (!shared || frame[IS_ENTRY_3_11])
      call = field_pointer(call, shared ? CFRAME_PREVIOUS_3_11 : CFRAME_PREVIOUS_3_10);
  }
  return count;
}

static uint32_t marks(uintptr_t *marks, uint32_t capacity) {
  const void *state = running_frame_slow ? NULL : python_thread_state_anyway();
  if (!state) return 0;
  return frame_layout.minor >= 12 ? marks_by_shim(state, marks, capacity) : marks_by_cframe(state, marks, capacity);
}

static void code_find(struct merge_front *front) {
  void *interpreter = python._PyInterpreterState_GetEvalFrameFunc ? python.PyInterpreterState_Main() : NULL;
  if (!interpreter) return; // it is not up yet: asked again when it is
  uintptr_t code = (uintptr_t)python._PyInterpreterState_GetEvalFrameFunc(interpreter);
  uint32_t module = module_of(code);
  if (module == UINT32_MAX) return;
  cfi_function_at(code, module_table[module].eh_frame_hdr, &front->code_start, &front->code_end);
}

const struct merge_front *evaluation_front(void) {
  static struct merge_front front;
  if (frame_layout.minor == 9)
    code_find(&front);
  else
    front.marks = marks;
  return &front;
}
