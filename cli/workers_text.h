// What processes that do the same work have together, in the text report.
#ifndef HT_WORKERS_TEXT_H
#define HT_WORKERS_TEXT_H

#include "text_out.h"
#include "workers.h"

// Nothing of groups whose processes are all quiet.
void workers_text(struct text_out *out, const struct report_set *set, const struct workers *workers);

#endif
