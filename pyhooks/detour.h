// Whether the hooks of small objects can take their short way (hook_python.c): one load for all the reasons not to.
#ifndef HT_DETOUR_H
#define HT_DETOUR_H

#include "../native/words.h"

// Bits; while one is set, hooks look at everything.
enum detour {
  DETOUR_START = 1,  // the interpreter is not up, or heaptide's own callback runs in it
  DETOUR_LOCK = 2,   // there are several interpreters
  DETOUR_FRAMES = 4, // frames have to be asked for
  DETOUR_END = 8,    // the interpreter is being taken down
};
extern uint32_t detours;

HT_INLINE void detour_set(enum detour detour) { __atomic_or_fetch(&detours, detour, __ATOMIC_SEQ_CST); }
HT_INLINE void detour_clear(enum detour detour) { __atomic_and_fetch(&detours, ~(uint32_t)detour, __ATOMIC_SEQ_CST); }
HT_INLINE bool detour_needed(void) { return __atomic_load_n(&detours, __ATOMIC_RELAXED) != 0; }

#endif
