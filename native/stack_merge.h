// Stacks with frames of another language in them: native frames that run such code (evaluators) are replaced by the
// frames that they run.
//
//   native            hook <- a() <- evaluator <- b() <- evaluator <- main
//   other language    f, g (run by the inner evaluator), h (by the outer one)
//   merged            hook <- a() <- f <- g <- b() <- h <- main
#ifndef HT_STACK_MERGE_H
#define HT_STACK_MERGE_H

#include "stack_memo.h"

#define MERGE_MAX 512u // frames of the other language in a stack, with those on whose behalf it is (behalf.h)

// How the front end tells evaluators. Set once, before the first stack with frames of its language.
struct merge_front {
  // Fills, for the calling thread's frames innermost first, an address in the stack frame of the evaluator that runs
  // each; returns how many. Takes no lock. NULL: evaluators are told by their code.
  uint32_t (*marks)(uintptr_t *marks, uint32_t capacity);
  uintptr_t code_start, code_end; // the evaluator's code, where there are no marks
};
void stack_merge_set(const struct merge_front *front);

// The node of the memo's window with the frames of the chain `line_node` (stack_table.h) merged in. Frames whose
// evaluator lies beyond the window come behind its native frames, those on whose behalf the thread works (behalf.h)
// behind all others. The caller holds site_lock.
node_id stack_merge_node(const struct stack_memo *memo, uint32_t line_node);

#endif
