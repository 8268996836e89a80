// Signals whose default action heaptide's handlers stand in for: the program never sees them, and a handler of its own
// takes their place. Its view of the alternate stack is kept the same way.
#ifndef HT_HOOK_SIGNAL_H
#define HT_HOOK_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

// `handler` stands in for the default action of `signal` from now on, wherever that is in force. At start-up.
// `flags`: SA_RESTART, SA_ONSTACK; SA_SIGINFO is added. `blocks_all`: all signals wait until it has returned.
void hook_signal_own(int signal, void (*handler)(int, siginfo_t *, void *), int flags, bool blocks_all);

// Gives the default actions back: detach.
void hook_signal_release(void);

#endif
