// What the page knows by thread (--per-thread): each row's shares, as columns of their own, and whose they are.
#ifndef HT_PAGE_SHARES_H
#define HT_PAGE_SHARES_H

#include <stdio.h>

#include "json_out.h"
#include "report_set.h"

// `first_row`: by process, the number that its first row has on the page.
void page_shares_columns(FILE *stream, const struct report_set *set, const size_t *first_row);
// In a process's facts. `first_share`: the number of its first share on the page.
void page_shares_facts(struct json_out *out, const struct judgement *judgement, size_t first_share);

#endif
