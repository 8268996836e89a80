// The checking mode (session option check_stacks): every stack is compared with the one that libunwind gives.
#ifndef HT_STACK_CHECK_H
#define HT_STACK_CHECK_H

#include "stack_memo.h"

extern HT_HIDDEN bool stack_check_on;

struct stack_check_counts {
  uint64_t stacks, equal, longer, shorter, different;
  uint64_t by_path; // of `stacks`: found by a known path (stack_path.h), not by walking
};
extern struct stack_check_counts stack_check_counts;

// Loads libunwind.so.8 (beside libheaptide.so, else the system's); false: there is none. Before main.
bool stack_check_init(const char *library_path);
// In the hook that was entered at `frame`, after the memo found the stack.
void stack_check(const struct stack_memo *memo, struct hook_frame frame);

#endif
