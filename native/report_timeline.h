// The sections TIMELINE and SITE_TIMELINE, from what the sampler kept.
#ifndef HT_REPORT_TIMELINE_H
#define HT_REPORT_TIMELINE_H

#include "report_tables.h"
#include "writer.h"

#define TIMELINE_SITES 512u // rows written: the sites with the highest values

// The samples, and as the last one `process` as it is now.
void timeline_write(const struct ht_file_process *process, struct writer *writer);
// What was counted up to each of these samples.
void timeline_calls_write(const struct ht_file_process *process, struct writer *writer);
void site_timeline_write(const struct report_tables *tables, struct writer *writer);

#endif
