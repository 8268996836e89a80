// A copy of the process, made by a fork that nobody notices, in which a report is put together while the process itself
// goes on, or waits with a limit of time because it has crashed.
//
// The copy has one thread, no descriptors, every lock free, and answers sys_pid and sys_tid as the original. It is not
// a child that the program could wait for (no exit signal: wait(2) passes over it without __WALL).
#ifndef HT_COPY_H
#define HT_COPY_H

#include "words.h"

// 0 in the copy, its pid in the original, -errno: there is none. The caller has blocked all signals but those of
// faults and holds the report; the other threads are parked, so that records are whole.
int copy_start(void);
// In the copy, at its end.
_Noreturn void copy_end(bool written);

enum copy_state { COPY_RUNS, COPY_WRITTEN, COPY_FAILED };
// How the copy `pid` is doing; anything but COPY_RUNS takes its remains away, and it must not be asked for again.
enum copy_state copy_look(int pid);
// Waits for it, at most until `until_ns` (sys_now_ns); then it is killed.
enum copy_state copy_wait(int pid, uint64_t until_ns);
void copy_kill(int pid);

#endif
