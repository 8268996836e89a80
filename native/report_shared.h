// Which pages of this process's memory are another process's too: what a fork left in both, until one of them writes
// to it (copy-on-write). Pages of files and of shared memory are not meant, nor heaptide's own.
// Only where a process forks or was forked: elsewhere it costs nothing, there some 30 ms for each GiB.
#ifndef HT_REPORT_SHARED_H
#define HT_REPORT_SHARED_H

#include "report_tables.h"
#include "words.h"
#include "writer.h"

#define SHARED_SITES 16u // of which a report says how much of the shared pages they hold

// Around fork: in the parent, and in the child with the parent's number.
void shared_pages_fork_parent(void);
void shared_pages_fork_child(int parent_pid);

// Looks at every page. Before the process is copied for a report: its copy shares everything with it. Under
// LOCK_RANK_REPORT, holding no lock behind it.
void shared_pages_look(void);
// Whose blocks lie in the shared pages, of the process as it was at that look. World parked; before tables_number.
void shared_pages_find(struct report_tables *tables);
// The sections RESIDENT and SHARED_SITES.
void shared_pages_write(const struct report_tables *tables, struct writer *writer);
// What was found goes with the report.
void shared_pages_drop(void);

#endif
