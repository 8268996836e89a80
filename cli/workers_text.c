#include "workers_text.h"

#include <stdlib.h>

#include "program_name.h"

enum { NAME_WIDTH = 60 };

static bool all_quiet(const struct report_set *set, const struct worker_group *group) {
  for (size_t i = 0; i < group->count; i++)
    if (!set->judgements[group->members[i]].quiet) return false;
  return true;
}

static void range_print(struct text_out *out, const char *name, const struct range_sum *range, size_t all) {
  char *words = range_text(range);
  text_print(out, STYLE_PLAIN, "  %-7s%s", name, range->count ? words : "not looked for");
  if (range->count && range->count < all) text_print(out, STYLE_DIM, "; without %zu of them", all - range->count);
  text_print(out, STYLE_PLAIN, "\n");
  free(words);
}

static void group_print(struct text_out *out, const struct report_set *set, const struct worker_group *group) {
  char name[PROGRAM_NAME_BYTES];
  program_name_of(&set->reports[group->members[0]], name);
  text_print(out, STYLE_HEADING, "WORKERS");
  text_print(out, STYLE_PLAIN, "  %zu alike from pid %u, ", group->count, group->parent_pid);
  text_print_foreign(out, STYLE_BOLD, name, NAME_WIDTH);
  text_print(out, STYLE_PLAIN, ": in all, and from the least to the most\n");
  range_print(out, "peak", &group->peak, group->count);
  range_print(out, "leaked", &group->leaked, group->count);
  text_print(out, STYLE_PLAIN, "\n");
}

void workers_text(struct text_out *out, const struct report_set *set, const struct workers *workers) {
  for (size_t i = 0; i < workers->count; i++)
    if (!all_quiet(set, &workers->groups[i])) group_print(out, set, &workers->groups[i]);
}
