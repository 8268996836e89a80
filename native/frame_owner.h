// Whose frame a word of a stopped thread's stack lies in.
#ifndef HT_FRAME_OWNER_H
#define HT_FRAME_OWNER_H

#include "words.h"

// Where a walk begins: registers of the innermost frame. `exact`: it was interrupted at `pc`; else `pc` is a return
// address.
struct frame_start {
  uintptr_t pc, stack_pointer, frame_pointer;
  bool exact;
};

// The code address of the frame that holds `word`, of the kind that *exact tells; 0: the walk does not get there.
// The thread is stopped. Takes LOCK_RANK_RULES for code that was not seen before.
uintptr_t frame_owner(const struct frame_start *start, uintptr_t word, bool *exact);

#endif
