// A signal handler of heaptide's interrupted a system call that the program wanted to sleep in: the call begins anew.
// (The kernel would let some calls return EINTR after any handler, whatever SA_RESTART says: signal(7).)
//
// Unless a handler of the program's waits to run as soon as ours returns: without ours it would have interrupted the
// call, and the call is interrupted then. A signal that comes in the moment after that look is late: the call goes on.
#ifndef HT_CALL_RESUME_H
#define HT_CALL_RESUME_H

#include <ucontext.h>

#include "words.h"

// The last that a handler does, which must block all signals. Changes the `interrupted` context so that the call goes
// on with what is left of its time. `call` is the number of the call that the thread was seen asleep in, with `call_pc`
// as its return address. Where the thread is in another one by now, or was seen in none, the number is read from the
// instruction in front of the `syscall`, where compilers put it, or from the stack, where glibc 2.41 keeps it.
void call_resume(long call, uintptr_t call_pc, ucontext_t *interrupted);

#endif
