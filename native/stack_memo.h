// The unchanged-stack check: what a thread's stack looked like at its last allocation, so that the next one only
// walks the frames that are new. docs/how-it-works.md explains the induction that makes this exact.
#ifndef HT_STACK_MEMO_H
#define HT_STACK_MEMO_H

#include "words.h"

struct memo_frame;
struct memo_check;

struct stack_memo {
  // The innermost frame as found last, compared first.
  uintptr_t top_slot, top_return;
  uintptr_t top_rbp;
  uint64_t top_hash;
  uint32_t top_site[2]; // sites of the last stack: heap, mmap
  struct memo_frame *frames; // own memory, outermost first
};

#endif
