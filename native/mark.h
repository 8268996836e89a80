// The program's marks: `ht_mark` is what programs call (include/heaptide.h, heaptide.mark in Python).
#ifndef HT_MARK_H
#define HT_MARK_H

#include "marks.h"

// A point on the timeline: now, with what is live now. A repeated name is an iteration. At any time, in any thread;
// from a signal handler that interrupted heaptide it is left out. Does nothing when nothing is recorded.
void ht_mark(const char *name);

// For the report; NULL: there was none.
const struct marks *mark_all(void);
// Marks that could not be kept for want of a place to keep their names, or because a signal handler made them.
uint64_t mark_left_out(void);

// In the fork child: what was marked is the parent's.
void mark_fork_child(void);

struct lock *mark_lock(void);

#endif
