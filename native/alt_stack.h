// The alternate signal stack that each thread which has allocated is given, so that a crash by stack overflow can be
// reported. A program that asks sees none (hook_signal.c), and one that sets its own has its own.
#ifndef HT_ALT_STACK_H
#define HT_ALT_STACK_H

#include <signal.h>

#include "words.h"

// Touched only by handlers with SA_ONSTACK of programs that have no alternate stack for them: as much as such a
// handler may want, since it would have had the whole stack.
#define ALT_STACK_BYTES (128u * 1024)

// Sets [memory, memory + ALT_STACK_BYTES) for the calling thread unless it has one already.
void alt_stack_set(void *memory);

// sigaltstack(2) as the calling thread, whose memory is `memory` (NULL: none), would have it without us. 0 or -errno.
long alt_stack_change(void *memory, const stack_t *wanted, stack_t *old);

#endif
