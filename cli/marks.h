// The points in time that the program gave names to; a repeated name is an iteration. Prints nothing.
#ifndef HT_CLI_MARKS_H
#define HT_CLI_MARKS_H

#include "model.h"

const char *mark_text(const struct report *report, const struct ht_file_mark_name *name);

// Whether a name came more than once, and what live bytes then grew by from one time to the next, on the mean.
bool mark_is_repeated(const struct ht_file_mark_name *name);
double mark_growth_bytes(const struct ht_file_mark_name *name);
int64_t mark_growth_rounded(const struct ht_file_mark_name *name); // within 2^62: a made-up file may say anything

// The row of a name among the first `most` of a report; NULL: it is not there.
const struct ht_file_mark_name *mark_find(const struct report *report, const char *text, uint32_t most);

// True when every mark has a name, and every name is in order.
bool marks_good(const struct report *report);

#endif
