// What /proc/self/task says of the process's threads. A process may read all of this of its own threads, without
// ptrace rights, unless it is not dumpable and not root.
#ifndef HT_TASK_H
#define HT_TASK_H

#include "words.h"

#define TASK_LIST_BYTES 32768u // a buffer for task_each

// Calls `visit` with the tid of each thread, the calling one too. False: the list cannot be read.
bool task_each(char buffer[TASK_LIST_BYTES], void (*visit)(uint32_t tid, void *context), void *context);

struct task_status {
  char state;       // R, S, D, T, t, Z, X as in proc_pid_status(5)
  uint64_t blocked; // signal mask
};
// False: the thread has ended, or it cannot be read.
bool task_status(uint32_t tid, struct task_status *status);

struct task_call {
  long number; // the system call it sleeps in; -1: asleep outside of one
  uintptr_t stack_pointer;
  uintptr_t pc; // behind the `syscall` instruction
};
// False: the thread runs, has ended, or cannot be looked at.
bool task_call(uint32_t tid, struct task_call *call);

#endif
