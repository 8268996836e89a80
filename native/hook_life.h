// How a process lives and ends: fork, exec, every way out, signals. Decides when a report is written.
#ifndef HT_HOOK_LIFE_H
#define HT_HOOK_LIFE_H

#include "session.h"

// Before the first hook, from the library's constructor: its exit handlers must be the first ones registered, since
// the first registered runs last.
void hook_life_init(const struct session *session);

#endif
