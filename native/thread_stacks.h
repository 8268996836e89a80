// The stacks that the C library made for threads, of living ones and of those that have ended, which it keeps.
#ifndef HT_THREAD_STACKS_H
#define HT_THREAD_STACKS_H

#include "maps.h"

struct thread_stack {
  uintptr_t start, end;
  uintptr_t descriptor; // of the thread (struct pthread), which its thread pointer leads to; 0: none is known
  bool is_main;
  bool is_guarded; // closed memory lies below: the C library made it, and no program has other use for it
};

struct thread_stacks {
  struct thread_stack *table; // by address
  uint32_t count, capacity;
  bool full; // no memory: some are missing
};

// Finds them in the memory map, the main thread's among them. Several may lie in one mapping: from glibc 2.42 and
// Linux 6.13 on the guard below a stack is no mapping of its own (MADV_GUARD_INSTALL). Takes LOCK_RANK_SYS; between
// resident_begin and resident_end.
void thread_stacks_find(struct thread_stacks *stacks, const struct maps *maps);
void thread_stacks_drop(struct thread_stacks *stacks);

// The stack that holds `address`; NULL: none.
const struct thread_stack *thread_stacks_at(const struct thread_stacks *stacks, uintptr_t address);

// The tid that the descriptor of `stack` has, 0 after the thread's end.
uint32_t thread_stack_tid(const struct thread_stack *stack);

#endif
