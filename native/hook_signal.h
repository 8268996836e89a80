// Signals whose default is to end the process (SIGTERM, SIGINT, SIGHUP): heaptide's handler stands in for the
// default, and the program never sees it.
#ifndef HT_HOOK_SIGNAL_H
#define HT_HOOK_SIGNAL_H

#include <signal.h>

// Installs `handler` wherever the default action stands now.
void hook_signal_init(void (*handler)(int, siginfo_t *, void *));

#endif
