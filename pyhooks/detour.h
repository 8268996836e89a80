// Whether the hooks of small objects can take their short way (hook_object.c): one comparison, which is made anyway,
// for all the reasons not to.
#ifndef HT_DETOUR_H
#define HT_DETOUR_H

#include "../native/words.h"

// Bits; while one is set, hooks look at everything.
enum detour {
  DETOUR_START = 1,   // the interpreter is not up, or heaptide's own callback runs in it
  DETOUR_LOCK = 2,    // there are several interpreters
  DETOUR_FRAMES = 4,  // frames have to be asked for
  DETOUR_END = 8,     // the interpreter is being taken down
  DETOUR_STATE = 16,  // the running thread's state was not where it was found
  DETOUR_OWNERS = 32, // --per-thread: the short way's keys do not tell threads apart; frees take it all the same
};

// What the short way compares with.
struct short_way {
  const void *interpreter; // allocations: that of the thread's state. NULL: not known yet
  uint32_t first_value;    // frees: of the object map's values, the first whose free counts
};
#define SHORT_WAY_NONE ((const void *)1) // while a detour is set: no thread state's interpreter,
#define SHORT_WAY_NO_VALUE UINT32_MAX    // and above every pair's values
extern HT_HIDDEN struct short_way short_way;

HT_INLINE bool detour_needed(void) { return short_way.interpreter == SHORT_WAY_NONE; }

void detour_set(enum detour detour);
void detour_clear(enum detour detour);
// After python.main_interpreter or pair_frozen changed.
void detour_update(void);

#endif
