#include "report_marks_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "marks.h"
#include "units.h"

enum { NAME_WIDTH = 60 };

// "+1.20 KiB", "-3 B", "0 B"; returns `text`.
static char *growth_text(char text[UNITS_TEXT + 1], int64_t bytes) {
  text[0] = bytes < 0 ? '-' : '+';
  bytes_text(bytes ? text + 1 : text, (uint64_t)llabs(bytes));
  return text;
}

static void name_print(struct text_out *out, const struct report *report, const struct ht_file_mark_name *name) {
  char count[UNITS_TEXT], first[UNITS_TEXT], last[UNITS_TEXT], before[UNITS_TEXT], after[UNITS_TEXT];
  char growth[UNITS_TEXT + 1] = "";
  if (mark_is_repeated(name)) growth_text(growth, mark_growth_rounded(name));
  text_print(out, STYLE_PLAIN, "%12s %12s %12s %12s %12s %12s  ", count_text(count, name->count),
             seconds_text(first, seconds_of(name->first_ns)), seconds_text(last, seconds_of(name->last_ns)),
             bytes_text(before, name->first_live_bytes), bytes_text(after, name->last_live_bytes), growth);
  text_print_foreign(out, STYLE_BOLD, mark_text(report, name), NAME_WIDTH);
  text_print(out, STYLE_PLAIN, "\n");
}

void report_marks_text(struct text_out *out, const struct report *report, uint64_t top) {
  if (!report->mark_name_count) return;
  text_print(out, STYLE_PLAIN, "\n");
  text_print(out, STYLE_HEADING, "MARKS");
  text_print(out, STYLE_PLAIN, "\n");
  text_print(out, STYLE_DIM, "%12s %12s %12s %12s %12s %12s  name\n", "times", "first", "last", "live, first",
             "live, last", "growth each");
  for (uint32_t i = 0; i < report->mark_name_count && i < top; i++) name_print(out, report, &report->mark_names[i]);
  if (top < report->mark_name_count)
    text_print(out, STYLE_DIM, "  ... %" PRIu64 " more name%s (--top)\n", report->mark_name_count - top,
               report->mark_name_count - top == 1 ? "" : "s");
}
