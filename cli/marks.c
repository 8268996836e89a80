#include "marks.h"

#include <string.h>

const char *mark_text(const struct report *report, const struct ht_file_mark_name *name) {
  return report->strings + name->name;
}

bool mark_is_repeated(const struct ht_file_mark_name *name) { return name->count > 1; }

double mark_growth_bytes(const struct ht_file_mark_name *name) {
  return ((double)name->last_live_bytes - (double)name->first_live_bytes) / (double)(name->count - 1);
}

int64_t mark_growth_rounded(const struct ht_file_mark_name *name) {
  const double most = 0x1p62;
  double bytes = mark_growth_bytes(name);
  if (bytes > most || bytes < -most) return bytes > 0 ? (int64_t)most : -(int64_t)most;
  return (int64_t)(bytes < 0 ? bytes - 0.5 : bytes + 0.5);
}

const struct ht_file_mark_name *mark_find(const struct report *report, const char *text, uint32_t most) {
  for (uint32_t i = 0; i < report->mark_name_count && i < most; i++)
    if (strcmp(mark_text(report, &report->mark_names[i]), text) == 0) return &report->mark_names[i];
  return NULL;
}

bool marks_good(const struct report *report) {
  for (uint32_t i = 0; i < report->mark_name_count; i++) {
    const struct ht_file_mark_name *name = &report->mark_names[i];
    if (name->name >= report->file.sections[HT_SECTION_STRINGS].bytes || name->count == 0) return false;
    if (name->first_ns > name->last_ns) return false;
  }
  for (uint32_t i = 0; i < report->mark_count; i++) {
    if (report->marks[i].name >= report->mark_name_count) return false;
    if (i > 0 && report->marks[i].at_ns < report->marks[i - 1].at_ns) return false;
  }
  return true;
}
