// Checkpoints (native/checkpoint.h) of processes that were killed become their reports.
#ifndef HT_CHECKPOINTS_H
#define HT_CHECKPOINTS_H

#include <stdbool.h>

#include "model.h"

// Whether the checkpoint of a process that has ended tells more than `report`, which the process has left: it goes on
// behind a snapshot. But for one of --snapshot-every, which is there for such an end, and has a leak scan.
bool checkpoint_is_wanted(const struct report *checkpoint, const struct report *report);

// In a folder whose run is over: the newer whole checkpoint of each process that is gone becomes its report, where it
// has left none or checkpoint_is_wanted; all others of processes that are gone are removed. Those of processes that
// live on stay.
void checkpoints_settle(const char *folder);

#endif
