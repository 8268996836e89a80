#include "page_curves.h"

#include "page_columns.h"
#include "report_json.h"

static const struct row_curves *curves_of(const struct report_set *set, size_t process, bool of_shares) {
  const struct judgement *judgement = &set->judgements[process];
  return of_shares ? &judgement->shares.curves : &judgement->curves;
}

// All curves of a process have the points of its sites on the page.
static void curve_column(struct page_column *column, const struct row_curve *curve, const struct curve_points *points) {
  for (size_t i = 0; i < points->count; i++) column_add(column, (uint64_t)row_curve_bytes(curve, points->at_s[i]));
}

void page_curves_columns(FILE *stream, const struct report_set *set, bool of_shares, const size_t *first) {
  uint64_t count = 0, values = 0;
  for (size_t i = 0; i < set->count; i++) {
    count += curves_of(set, i, of_shares)->count;
    values += curves_of(set, i, of_shares)->count * set->judgements[i].points->count;
  }
  struct page_column column = column_begin(stream, of_shares ? "share_curve_share" : "curve_row", COLUMN_DELTA, count);
  for (size_t i = 0; i < set->count; i++)
    for (size_t j = 0; j < curves_of(set, i, of_shares)->count; j++)
      column_add(&column, first[i] + curves_of(set, i, of_shares)->items[j].row);
  column = column_begin(stream, of_shares ? "share_curve_bytes" : "curve_bytes", COLUMN_DELTA, values);
  for (size_t i = 0; i < set->count; i++)
    for (size_t j = 0; j < curves_of(set, i, of_shares)->count; j++)
      curve_column(&column, &curves_of(set, i, of_shares)->items[j], set->judgements[i].points);
}

void page_growing(struct json_out *out, const char *name, const struct growing *growing, size_t first) {
  out_open(out, name, '[');
  for (size_t i = 0; i < growing->count; i++) {
    out_open(out, NULL, '[');
    out_count(out, NULL, first + growing->items[i].row);
    out_number(out, NULL, growing->items[i].bytes_per_s, REPORT_JSON_RATE_DECIMALS);
    out_close(out, ']');
  }
  out_close(out, ']');
}
