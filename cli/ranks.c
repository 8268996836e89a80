#include "ranks.h"

#include <stdlib.h>

#include "memory.h"

static uint64_t peak_bytes(const struct rank_row *row) { return row->judgement->report->process->peak_bytes; }

// By rank, of one rank the widest first.
static int row_compare(const void *left, const void *right) {
  const struct rank_row *a = left, *b = right;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return (peak_bytes(a) < peak_bytes(b)) - (peak_bytes(a) > peak_bytes(b));
}

struct ranks ranks_make(const struct report_set *set) {
  struct ranks ranks = {.rows = memory_get(set->count, sizeof *ranks.rows)};
  size_t found = 0;
  for (size_t i = 0; i < set->count; i++) {
    uint32_t rank = set->reports[i].process->rank;
    if (rank != UINT32_MAX) ranks.rows[found++] = (struct rank_row){rank, &set->judgements[i]};
  }
  if (found) qsort(ranks.rows, found, sizeof *ranks.rows, row_compare);
  for (size_t i = 0; i < found; i++) {
    if (ranks.count && ranks.rows[ranks.count - 1].rank == ranks.rows[i].rank) continue;
    ranks.rows[ranks.count] = ranks.rows[i];
    if (peak_bytes(&ranks.rows[ranks.count]) > peak_bytes(&ranks.rows[ranks.widest])) ranks.widest = ranks.count;
    ranks.count++;
  }
  return ranks;
}

void ranks_free(struct ranks *ranks) {
  free(ranks->rows);
  *ranks = (struct ranks){0};
}
