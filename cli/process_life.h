// Whether a process that wrote something is still there.
#ifndef HT_PROCESS_LIFE_H
#define HT_PROCESS_LIFE_H

#include <stdbool.h>
#include <stdint.h>

// True when process `pid` has ended, whether its parent has asked for its status or not (a zombie).
bool process_has_ended(uint32_t pid);

// Whether process `pid` is stopped, by a signal or a tracer.
enum process_stop { PROCESS_GOES_ON, PROCESS_STOPPED, PROCESS_STOP_UNKNOWN }; // /proc does not say
enum process_stop process_stop_of(uint32_t pid);

// A number that changes when a thread of process `pid` runs: how often its threads got and gave up a processor. 0:
// /proc does not say.
uint64_t process_activity(uint32_t pid);

// True when process `pid` has not ended and began before `recorded_unix_ns`, when its recording did: another
// one that has got the same number since began later.
bool process_lives(uint32_t pid, uint64_t recorded_unix_ns);

#endif
