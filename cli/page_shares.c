#include "page_shares.h"

#include <stdlib.h>

#include "memory.h"
#include "page_columns.h"
#include "page_curves.h"

// ---- columns

struct share_place {
  const struct row *share;
  size_t first_row;
};

static uint64_t share_row(struct share_place at) { return at.first_row + at.share->whole; }
static uint64_t share_owner(struct share_place at) { return at.share->owner; }
#define FIGURE(name)                                                                                                   \
  static uint64_t share_##name(struct share_place at) { return at.share->name; }
#include "page_row_figures.def"
#undef FIGURE

static const struct {
  const char *name;
  enum column_coding coding;
  uint64_t (*value)(struct share_place at);
} share_columns[] = {
    {"share_row", COLUMN_DELTA, share_row},
    {"share_owner", COLUMN_PLAIN, share_owner},
#define FIGURE(name) {"share_" #name, COLUMN_PLAIN, share_##name},
#include "page_row_figures.def"
#undef FIGURE
};

static void shares_write(FILE *stream, const struct report_set *set, const size_t *first_row) {
  uint64_t count = 0;
  for (size_t i = 0; i < set->count; i++) count += set->judgements[i].shares.count;
  for (size_t k = 0; k < sizeof share_columns / sizeof *share_columns; k++) {
    struct page_column column = column_begin(stream, share_columns[k].name, share_columns[k].coding, count);
    for (size_t i = 0; i < set->count; i++)
      for (size_t j = 0; j < set->judgements[i].shares.count; j++)
        column_add(&column,
                   share_columns[k].value((struct share_place){&set->judgements[i].shares.rows[j], first_row[i]}));
  }
}

static uint64_t python_value(const struct python_row *row, size_t first_share, int which) {
  switch (which) {
  case 0:
    return first_share + row->row;
  case 1:
    return row->leaked;
  case 2:
    return row->live_bytes;
  case 3:
    return row->live_blocks;
  case 4:
    return row->allocations;
  }
  return row->peak_known ? row->peak_bytes + 1 : 0;
}

static void python_write(FILE *stream, const struct report_set *set) {
  static const char *const names[] = {"share_python_row",         "share_python_leaked",
                                      "share_python_live_bytes",  "share_python_live_blocks",
                                      "share_python_allocations", "share_python_peak_bytes"};
  uint64_t count = 0;
  for (size_t i = 0; i < set->count; i++) count += set->judgements[i].shares.python_count;
  for (int k = 0; k < (int)(sizeof names / sizeof *names); k++) {
    struct page_column column = column_begin(stream, names[k], COLUMN_DELTA, count);
    size_t first = 0;
    for (size_t i = 0; i < set->count; i++) {
      const struct row_shares *shares = &set->judgements[i].shares;
      for (size_t j = 0; j < shares->python_count; j++) column_add(&column, python_value(&shares->python[j], first, k));
      first += shares->count;
    }
  }
}

static void curves_write(FILE *stream, const struct report_set *set) {
  size_t *first = memory_get(set->count, sizeof *first);
  for (size_t i = 1; i < set->count; i++) first[i] = first[i - 1] + set->judgements[i - 1].shares.count;
  page_curves_columns(stream, set, true, first);
  free(first);
}

void page_shares_columns(FILE *stream, const struct report_set *set, const size_t *first_row) {
  shares_write(stream, set, first_row);
  python_write(stream, set);
  curves_write(stream, set);
}

// ---- facts

void page_shares_facts(struct json_out *out, const struct judgement *judgement, size_t first_share) {
  const struct report *report = judgement->report;
  const struct row_shares *shares = &judgement->shares;
  out_open(out, "owners", '[');
  for (uint32_t i = 0; i < report->owner_count; i++) {
    const struct ht_file_owner *owner = &report->owners[i];
    out_open(out, NULL, '{');
    out_known(out, "tid", owner->tid, owner->tid);
    out_text(out, "name", owner->name ? report->strings + owner->name : NULL);
    out_close(out, '}');
  }
  out_close(out, ']');
  page_growing(out, "growing_shares", &shares->growing, first_share);
  out_count(out, "share_count", shares->count);
  out_count(out, "share_curve_count", shares->curves.count);
}
