// Python's figures for native's report.
#ifndef HT_PYTHON_REPORT_H
#define HT_PYTHON_REPORT_H

#include "../native/count.h"

// Adds what the pairs counted since the last time to their sites. Before a report; counters stand still.
void python_report_fold(void);

// Takes the figures for good: before the interpreter is taken down. The caller holds the GIL, is not in a hook.
void python_report_final(void);

// Gives back what the tables keep alive of the interpreter's. The caller holds the GIL, is not in a hook.
void python_report_release(void);

// Adds to `live_bytes` (one for each site below `site_end`) what small objects hold beyond the sites' own counters.
void python_report_live_add(int64_t *live_bytes, uint32_t first, uint32_t count);

// Adds what the pairs tallied: count_tally_source.
void python_report_tally_add(enum ht_kind kind, struct kind_tally *tally);

// Another interpreter begins: its figures come to those taken.
void python_report_begin_again(void);

void python_report_fork_child(void);

// A sentence for the report's notes. `text` stays.
void python_report_note(const char *text);

#endif
