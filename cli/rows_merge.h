// A report's sites merged into rows: those of one kind with the same shown stack are one.
#ifndef HT_ROWS_MERGE_H
#define HT_ROWS_MERGE_H

#include "judgement.h"

struct merged_rows {
  struct row *rows;
  size_t count;
  uint32_t *of_site; // by the report's site
};

// One row for all threads.
struct merged_rows rows_merge(const struct report *report, const struct stacks *stacks);
// Each row once for each thread that has a share in it: in the order of rows, then of threads. `.stack` and `.kind` are
// the row's, `.whole` says which it is.
struct merged_rows rows_merge_apart(const struct report *report, const struct merged_rows *whole);
void merged_rows_free(struct merged_rows *merged);

#endif
