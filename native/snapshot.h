// Reports of a process that goes on: at request, and every so many seconds. Each is written by a copy of the process
// (copy.h); one at a time, further requests wait for it.
#ifndef HT_SNAPSHOT_H
#define HT_SNAPSHOT_H

#include "scan.h"
#include "session.h"
#include "snapshot_request.h"

void snapshot_init(const struct session *session);

// After each sample, in a hook: looks after the last copy. True: one is due or asked for, snapshot_serve is to be
// called once the hook is over.
bool snapshot_watch(uint64_t now_ns);

// Begins what is asked for or due. The calling thread is in no hook; signals may come. False: nothing was.
bool snapshot_serve(const struct scan_origin *origin);

// No copy must come later than the process's last report or its exec: a report_order.before for these, returns true. A
// copy without a label is killed, one with a label gets some time to end; no other begins.
bool snapshot_end(void);
// After an exec that failed.
void snapshot_go_on(void);

void snapshot_fork_child(void);

// For front ends and programs: writes a report of now, into a folder `label` of its own unless that is NULL or "".
// Waits until it is there; other threads go on. 0, or an errno: ENOSYS when nothing is recorded, EINVAL for a label
// that cannot be a folder's name, EAGAIN when another report is in the way, EIO when it could not be written.
int ht_snapshot(const char *label);

#endif
