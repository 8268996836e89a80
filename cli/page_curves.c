#include "page_curves.h"

#include "page_columns.h"
#include "report_json.h"

static const struct row_curves *curves_of(const struct report_set *set, size_t process, bool of_shares) {
  const struct judgement *judgement = &set->judgements[process];
  return of_shares ? &judgement->shares.curves : &judgement->curves;
}

void page_curves_columns(FILE *stream, const struct report_set *set, bool of_shares, const size_t *first) {
  uint64_t count = 0, values = 0;
  for (size_t i = 0; i < set->count; i++) {
    count += curves_of(set, i, of_shares)->count;
    values += curves_of(set, i, of_shares)->count * set->judgements[i].point_count;
  }
  struct page_column column = column_begin(stream, of_shares ? "share_curve_share" : "curve_row", COLUMN_DELTA, count);
  for (size_t i = 0; i < set->count; i++)
    for (size_t j = 0; j < curves_of(set, i, of_shares)->count; j++)
      column_add(&column, first[i] + curves_of(set, i, of_shares)->items[j].row);
  column = column_begin(stream, of_shares ? "share_curve_bytes" : "curve_bytes", COLUMN_DELTA, values);
  for (size_t i = 0; i < set->count; i++)
    for (size_t j = 0; j < curves_of(set, i, of_shares)->count; j++)
      for (size_t k = 0; k < set->judgements[i].point_count; k++)
        column_add(&column, (uint64_t)curves_of(set, i, of_shares)->items[j].bytes[k]);
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
