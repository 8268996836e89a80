// On whose behalf a thread works: the lines of another language (Python) that queued what it does, or that started it.
// They stand behind the thread's own frames in its stacks, after a frame that is none, `[on behalf of]`.
#ifndef HT_BEHALF_H
#define HT_BEHALF_H

#include "words.h"

// What the frame says, in the direction of the stack's lines: of a queued call, of a thread, of a line of PyTorch's
// forward pass.
#define BEHALF_QUEUED "[on behalf of]"
#define BEHALF_STARTED "[started on behalf of]"
#define BEHALF_BACKWARD "[backward of]"

// Filled and read by the front end.
struct behalf {
  uint32_t node;        // of the stack table: the lines and the frame that is none; 0: nobody's
  uint32_t own, joined; // the thread's own lines of last time (0: none), and both together; 0: none yet
};

// Work that is told of when it begins and ends: in the stack frame of what does it.
struct behalf_work {
  struct behalf behalf;
  bool node_looked_up;
  const void *object, *group; // what stands for it, and for all that was queued with it
  struct behalf_work *outer;
};

// What a thread does, the last one first.
struct behalf_chain {
  struct behalf begun;      // how it began
  bool is_executors;        // it began in order to make calls that others queue
  struct behalf call;       // the one of those that it is at
  uint32_t call_made;       // of the stack table: where the object was allocated that stands for that call
  struct behalf_work *work; // NULL: none
};

// In pthread_create, in the calling thread, outside of hooks: how the new thread begins. All is 0 before.
typedef void (*behalf_source)(struct behalf_chain *begun);
void behalf_set_source(behalf_source source);
void behalf_of_new(struct behalf_chain *begun);

// The caller of all three holds site_lock. `outer` with the frames of `inner` further in.
uint32_t behalf_join_locked(uint32_t outer, uint32_t inner);
// The same with those alone that are lines, and of the thread's own.
uint32_t behalf_join_lines_locked(uint32_t outer, uint32_t inner);
// `lines` with the frame `label` further in; where they are no more than `outer`, that.
uint32_t behalf_label_locked(uint32_t outer, uint32_t lines, const char *label);

#endif
