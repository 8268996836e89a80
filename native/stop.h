// Parks the other threads of the process while memory is read, and lets them go again.
//
// Each thread gets a real-time signal that the program does not use; its handler notes the registers and waits.
// A thread that was asleep in a system call is put back into that call afterwards with what is left of its time
// (the kernel would let it return EINTR), so nobody notices. Works without ptrace rights. A thread that cannot take
// the signal (blocked, or tgkill refused) is looked at through /proc/self/task/TID/syscall, which a process may
// always read of its own threads.
#ifndef HT_STOP_H
#define HT_STOP_H

#include "words.h"

enum stop_state {
  STOP_ASKED,   // signal sent, no answer yet
  STOP_BUSY,    // answered from within a hook or with a lock of heaptide's: to be asked again
  STOP_PARKED,  // waits in our handler: everything is known
  STOP_ASLEEP,  // in a system call, with our signal blocked: stack pointer known, registers are not
  STOP_PASSING, // in the C library's hands, being born or ending: waits for a thread that is parked
  STOP_LOOSE,   // runs on: nothing is known
  STOP_GONE,    // has ended, or is about to
};

// The general registers of ucontext_t, REG_R8 to REG_RIP.
#define STOP_REGISTERS 17

struct stop_thread {
  uint32_t tid;
  uint32_t state;                     // enum stop_state
  uintptr_t stack_pointer;            // 0: unknown
  uintptr_t thread_pointer;           // %fs base, 0: unknown
  uintptr_t vector_start, vector_end; // saved vector registers, in its signal frame; 0: none
  uintptr_t registers[STOP_REGISTERS];
  long call;         // the system call it was asleep in, -1: none
  uintptr_t call_pc; // where that call would return to
};

// Parks every thread but the calling one, in at most a second. Nobody is parked within a hook or with a lock of
// heaptide's: counters and tables are whole while they wait. While threads are parked call nothing that takes a lock of
// the program's or the C library's. One stopper at a time (LOCK_RANK_REPORT).
void stop_begin(void);
// Lets all go.
void stop_end(void);

// The other threads, between stop_begin and stop_end. None in a process of one thread.
const struct stop_thread *stop_threads(uint32_t *count);
// False: they could not be listed (no /proc: only those that have allocated are parked; no memory: none).
bool stop_listed(void);

#endif
