// The names that a program gave to points in time, as every JSON output of heaptide has them.
#ifndef HT_JSON_MARKS_H
#define HT_JSON_MARKS_H

#include "comparison.h"
#include "json_out.h"
#include "model.h"

// "mark_names": how often each came, marks without a row of their own included, and what was live first and last.
void json_mark_names(struct json_out *out, const struct report *report);

// "marks": what memory grew by from one mark of a name to the next, in two reports.
void json_mark_pairs(struct json_out *out, const struct comparison *comparison);

#endif
