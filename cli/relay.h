// Stands in for CMD towards whoever started heaptide: passes signals on, stops when CMD stops, waits for its end.
#ifndef HT_RELAY_H
#define HT_RELAY_H

#include <sys/types.h>

// Before fork: holds signals back, so that none is lost between fork and relay_wait.
void relay_prepare(void);

// In the child, or when there was no fork after all: signals as they were before relay_prepare.
void relay_undo(void);

// Waits until `child` has ended and returns its wait status.
int relay_wait(pid_t child);

// Ends heaptide with the signal that ended CMD, without a core dump of heaptide. Does not return.
void relay_die_of(int signal) __attribute__((noreturn));

#endif
