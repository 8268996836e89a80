// A signal handler of heaptide's interrupted a system call that the program wanted to sleep in: the call begins anew.
// (The kernel would let some calls return EINTR after any handler, whatever SA_RESTART says: signal(7).)
#ifndef HT_CALL_RESUME_H
#define HT_CALL_RESUME_H

#include <ucontext.h>

#include "words.h"

// Changes the interrupted context's `registers` so that the call goes on with what is left of its time. `call` is the
// number of the call that the thread was seen asleep in, with `call_pc` as its return address. Where the thread is in
// another one by now, or was seen in none, the number is read from the instruction in front of the `syscall`, where
// compilers put it, or from the stack, where glibc 2.41 keeps it.
void call_resume(long call, uintptr_t call_pc, greg_t *registers);

#endif
