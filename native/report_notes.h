// What a report could not see, in a sentence each.
#ifndef HT_REPORT_NOTES_H
#define HT_REPORT_NOTES_H

#include "buffer.h"
#include "report_tables.h"
#include "scan.h"
#include "writer.h"

struct report_notes {
  struct buffer refs; // uint32_t string refs
};

void notes_add(struct report_notes *notes, struct report_tables *tables, const char *sentence);
// Those of the scan and of the recorder's limits.
void notes_collect(struct report_notes *notes, struct report_tables *tables, const struct scan_result *scan,
                   uint64_t unseen_calls);
// Kept for every report, once; `sentence` stays.
void notes_keep(const char *sentence);
// In the fork child: what was kept of the parent and does not hold for its own record.
void notes_forget(const char *sentence);
void notes_write(const struct report_notes *notes, struct writer *writer);
void notes_drop(struct report_notes *notes);

#endif
