// Curves over time on the page: of rows, and of what each thread has in them (--per-thread).
#ifndef HT_PAGE_CURVES_H
#define HT_PAGE_CURVES_H

#include <stdbool.h>
#include <stdio.h>

#include "json_out.h"
#include "report_set.h"

// Two columns: whose each curve is, and the bytes of all. `first`: by process, the number that its first row, or share,
// has on the page.
void page_curves_columns(FILE *stream, const struct report_set *set, bool of_shares, const size_t *first);
// Pairs of a row's, or share's, number and its bytes per second.
void page_growing(struct json_out *out, const char *name, const struct growing *growing, size_t first);

#endif
