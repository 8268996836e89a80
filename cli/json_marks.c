#include "json_marks.h"

#include "mark_pairs.h"
#include "marks.h"
#include "units.h"

enum { SECONDS_DECIMALS = 6 };

static void growth_write(struct json_out *out, const struct ht_file_mark_name *name) {
  if (mark_is_repeated(name))
    out_number(out, "growth_bytes", mark_growth_bytes(name), 1);
  else
    out_null(out, "growth_bytes");
}

// ---- of one report

static void name_write(struct json_out *out, const struct report *report, const struct ht_file_mark_name *name) {
  out_open(out, NULL, '{');
  out_text(out, "name", mark_text(report, name));
  out_count(out, "count", name->count);
  out_number(out, "first_seconds", seconds_of(name->first_ns), SECONDS_DECIMALS);
  out_number(out, "last_seconds", seconds_of(name->last_ns), SECONDS_DECIMALS);
  out_count(out, "first_live_bytes", name->first_live_bytes);
  out_count(out, "last_live_bytes", name->last_live_bytes);
  growth_write(out, name);
  out_close(out, '}');
}

void json_mark_names(struct json_out *out, const struct report *report) {
  out_open(out, "mark_names", '[');
  for (uint32_t i = 0; i < report->mark_name_count; i++) name_write(out, report, &report->mark_names[i]);
  out_close(out, ']');
}

// ---- of two

static void side_write(struct json_out *out, const char *key, const struct ht_file_mark_name *name) {
  if (!name) {
    out_null(out, key);
    return;
  }
  out_open(out, key, '{');
  out_count(out, "count", name->count);
  growth_write(out, name);
  out_close(out, '}');
}

void json_mark_pairs(struct json_out *out, const struct comparison *comparison) {
  struct mark_pairs pairs = mark_pairs_make(comparison);
  out_open(out, "marks", '[');
  for (size_t i = 0; i < pairs.count; i++) {
    out_open(out, NULL, '{');
    out_text(out, "name", pairs.items[i].name);
    side_write(out, "base", pairs.items[i].sides[SIDE_BASE]);
    side_write(out, "new", pairs.items[i].sides[SIDE_NEW]);
    out_close(out, '}');
  }
  out_close(out, ']');
  mark_pairs_free(&pairs);
}
