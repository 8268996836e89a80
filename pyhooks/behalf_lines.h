// On whose behalf the calling thread works (native/behalf.h), in lines of Python: what started the thread, what queued
// the call that an executor's thread makes, what PyTorch's backward pass is for.
#ifndef HT_BEHALF_LINES_H
#define HT_BEHALF_LINES_H

#include "../native/thread.h"

// From now on threads know what started them.
void behalf_lines_start(void);

// The calling thread's own lines `own` (a node of the stack table; 0: none), behind those on whose behalf it works.
// `thread_state` NULL: none of Python's. Inside a hook.
uint32_t behalf_lines_join(const void *thread_state, uint32_t own);

// The lines that the calling thread is at, all of them, as a node; 0: none. Inside a hook.
uint32_t behalf_lines_here(void);

#endif
