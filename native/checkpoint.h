// What is left of a process that is killed without a chance: a report of its counters, written now and then over the
// last but one (writer.h: two files in turn, since the end may come in the middle of one). No leak scan.
// The first file lies in the folder from the process's first allocation on: it also says who is there to be asked for a
// snapshot.
#ifndef HT_CHECKPOINT_H
#define HT_CHECKPOINT_H

#include "session.h"
#include "words.h"

void checkpoint_init(const struct session *session);

// After each sample (sampler_on_look): writes one when it is due.
void checkpoint_watch(uint64_t now_ns);

// Writes one now, for somebody who watches (snapshot_request.h). Under the sampler's lock.
void checkpoint_write_now(uint64_t now_ns);

// False: from now on none is written, since the process's own report is about to be. True: it goes on after all (an
// exec that failed).
void checkpoint_set(bool on);
// Takes the files away. After checkpoint_set(false), by the thread that has set it.
void checkpoint_drop(void);

// In the fork child: those files are the parent's.
void checkpoint_fork_child(void);

#endif
