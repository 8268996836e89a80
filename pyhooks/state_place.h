// Where the interpreter keeps the running thread's PyThreadState, so that hooks read it there instead of asking. Its
// own function for it is one load; in a shared library from 3.12 on it has a call of __tls_get_addr in it as well.
#ifndef HT_STATE_PLACE_H
#define HT_STATE_PLACE_H

#include "python_api.h"

enum state_place_kind {
  STATE_ASKED,     // not found: python.thread_state is called
  STATE_IN_MEMORY, // of the process, to 3.11 (_PyRuntime.gilstate.tstate_current)
  STATE_IN_THREAD, // thread-local, from 3.12 on (_Py_tss_tstate)
};
extern HT_HIDDEN enum state_place_kind state_place_kind;
extern HT_HIDDEN uintptr_t state_place; // the address, or the offset from the thread pointer

HT_INLINE void *state_in_memory(void) { return *(void *const volatile *)state_place; }
HT_INLINE void *state_in_thread(void) { return *(void *const volatile __seg_fs *)state_place; }

// As python.thread_state.
HT_INLINE void *state_anywhere(void) {
  switch (state_place_kind) {
  case STATE_IN_MEMORY:
    return state_in_memory();
  case STATE_IN_THREAD:
    return state_in_thread();
  default:
    return python.thread_state();
  }
}

// Reads the machine code of python.thread_state. While the process starts: a library that came by dlopen has its
// thread-local storage at another offset in each thread.
void state_place_find(void);
// Compares once more with python.thread_state, in the thread that comes by. False: it is asked from now on, and those
// who read the place all the same must not do so any more.
bool state_place_check(void);

// The kind and place that `code`, a function of at least 32 bytes, gives back; STATE_ASKED: it is none of those known.
// `thread_offset` tells where the thread-local variable is that a tls_index stands for; 0: not known.
enum state_place_kind state_place_decode(const uint8_t *code, intptr_t (*thread_offset)(const size_t *tls_index),
                                         uintptr_t *place);

#endif
