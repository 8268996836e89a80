// How a process lives and ends: fork, exec, every way out, signals. Decides when a report is written.
#ifndef HT_HOOK_LIFE_H
#define HT_HOOK_LIFE_H

#include "session.h"
#include "words.h"

// Before the first hook, from the library's constructor: its exit handlers must be the first ones registered, since
// the first registered runs last.
void hook_life_init(const struct session *session);

// Whether the process is on its way out: exit was called, or main has returned.
bool life_is_ending(void);

// The last report of a process that goes on without heaptide is begun; in no hook.
void hook_life_detach_begin(void);
// Waits until it is written, and sets its signals' default actions again. 0, or EIO: the report could not be written,
// all else is done.
int hook_life_detach_end(void);

#endif
