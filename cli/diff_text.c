#include "diff_text.h"

#include <stdlib.h>
#include <string.h>

#include "mark_pairs.h"
#include "marks.h"
#include "program_name.h"
#include "units.h"

static const char *const figure_names[] = FIGURE_NAMES;
static const char *const kind_names[] = HT_KIND_NAMES;
static const char *const headings[CHANGE_COUNT] = {"NEW", "GROWN", "GONE", "SHRUNK"};
static const enum text_style styles[CHANGE_COUNT] = {STYLE_BAD, STYLE_BAD, STYLE_GOOD, STYLE_GOOD};

enum { STACK_FRAMES = 8, NAME_WIDTH = 60, NOTE_WIDTH = 300 };

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

// "+1.20 MiB", "-512 B", "0 B"; returns `text`.
static char *difference_text(char text[UNITS_TEXT], int64_t bytes) {
  text[0] = bytes < 0 ? '-' : '+';
  bytes_text(bytes ? text + 1 : text, (uint64_t)llabs(bytes));
  return text;
}

// ---- head

static void process_print(struct text_out *out, const char *word, const struct judgement *judgement) {
  if (!judgement) {
    text_print(out, STYLE_PLAIN, "  %-5s not there\n", word);
    return;
  }
  const struct report *report = judgement->report;
  const struct ht_file_process *process = report->process;
  char duration[UNITS_TEXT], name[PROGRAM_NAME_BYTES];
  program_name_of(report, name);
  text_print(out, STYLE_PLAIN, "  %-5s ", word);
  text_print_foreign(out, STYLE_BOLD, name, NAME_WIDTH);
  text_print(out, STYLE_PLAIN, "  pid %u, %s", process->pid, seconds_text(duration, seconds_of(process->duration_ns)));
  if (process->label) {
    text_print(out, STYLE_PLAIN, ", ");
    text_print_foreign(out, STYLE_BOLD, report->strings + process->label, NAME_WIDTH);
  }
  if (process->rank != UINT32_MAX) text_print(out, STYLE_PLAIN, ", rank %u", process->rank);
  text_print(out, STYLE_PLAIN, "\n");
}

// ---- changes

// "leaked in 100 blocks of heap", "live, 1.00 MiB before, 1.50 MiB now, of heap".
static void change_words(struct text_out *out, const struct site_change *change) {
  const struct figures *base = &change->sides[SIDE_BASE], *new = &change->sides[SIDE_NEW];
  enum figure figure = change->figure;
  char before[UNITS_TEXT], now[UNITS_TEXT], count[UNITS_TEXT];
  bool both = change->change == CHANGE_GROWN || change->change == CHANGE_SHRUNK;
  uint64_t blocks = change->change == CHANGE_GONE ? base->blocks[figure] : new->blocks[figure];
  const char *word = figure == FIGURE_PEAK ? "at the peak" : figure_names[figure];
  if (both)
    text_print(out, STYLE_PLAIN, "  %s, %s -> %s of %s\n", word, bytes_text(before, base->bytes[figure]),
               bytes_text(now, new->bytes[figure]), kind_names[change->kind]);
  else
    text_print(out, STYLE_PLAIN, "  %s in %s block%s of %s\n", word, count_text(count, blocks), plural(blocks),
               kind_names[change->kind]);
}

static void change_print(struct text_out *out, const struct site_change *change) {
  char bytes[UNITS_TEXT];
  text_print(out, styles[change->change], "%12s", difference_text(bytes, site_change_bytes(change)));
  change_words(out, change);
  text_print_stack(out, change->stacks, change->stack, STACK_FRAMES);
}

static void changes_print(struct text_out *out, const struct site_change *changes, size_t count, enum change change,
                          uint64_t top) {
  char bytes[UNITS_TEXT];
  int64_t sum = 0;
  if (!count) return;
  for (size_t i = 0; i < count; i++) sum += site_change_bytes(&changes[i]);
  text_print(out, STYLE_PLAIN, "\n");
  text_print(out, STYLE_HEADING, "%s", headings[change]);
  text_print(out, STYLE_PLAIN, "  %zu site%s, %s\n", count, plural(count), difference_text(bytes, sum));
  for (size_t i = 0; i < count && i < top; i++) change_print(out, &changes[i]);
  if (top < count)
    text_print(out, STYLE_DIM, "  ... %zu more site%s (--top)\n", (size_t)(count - top), plural(count - top));
}

// ---- summary

static void total_print(struct text_out *out, const char *name, const char *base, const char *new,
                        const char *difference) {
  text_print(out, STYLE_PLAIN, "  %-12s %12s %12s %12s\n", name, base, new, difference);
}

static void totals_print(struct text_out *out, const struct comparison *comparison) {
  static const char *const names[FIGURE_COUNT] = {"leaked", "live at end", "peak"};
  const struct figures *base = &comparison->totals[SIDE_BASE], *new = &comparison->totals[SIDE_NEW];
  char before[UNITS_TEXT], now[UNITS_TEXT], difference[UNITS_TEXT + 1];
  text_print(out, STYLE_PLAIN, "\n");
  text_print(out, STYLE_HEADING, "SUMMARY");
  text_print(out, STYLE_PLAIN, "%20s %12s %12s\n", "base", "new", "change");
  for (int i = 0; i < FIGURE_COUNT; i++)
    total_print(out, names[i], bytes_text(before, base->bytes[i]), bytes_text(now, new->bytes[i]),
                difference_text(difference, (int64_t)(new->bytes[i] - base->bytes[i])));
  bool more = new->allocations >= base->allocations;
  difference[0] = more ? '+' : '-';
  count_text(difference + 1, more ? new->allocations - base->allocations : base->allocations - new->allocations);
  total_print(out, "allocations", count_text(before, base->allocations), count_text(now, new->allocations),
              new->allocations == base->allocations ? "0" : difference);
}

// "+1.20 KiB" for each iteration, "once", "-" where the name is not there; returns `text`.
static const char *growth_text(char text[UNITS_TEXT + 1], const struct ht_file_mark_name *name) {
  if (!name) return "-";
  return mark_is_repeated(name) ? difference_text(text, mark_growth_rounded(name)) : "once";
}

static void mark_print(struct text_out *out, const struct mark_pair *pair) {
  const struct ht_file_mark_name *base = pair->sides[SIDE_BASE], *new = pair->sides[SIDE_NEW];
  char before[UNITS_TEXT + 1], now[UNITS_TEXT + 1], difference[UNITS_TEXT + 1] = "";
  if (base && new &&mark_is_repeated(base) && mark_is_repeated(new))
    difference_text(difference, mark_growth_rounded(new) - mark_growth_rounded(base));
  text_print(out, STYLE_PLAIN, "%27s %12s %12s  ", growth_text(before, base), growth_text(now, new), difference);
  text_print_foreign(out, STYLE_BOLD, pair->name, NAME_WIDTH);
  text_print(out, STYLE_PLAIN, "\n");
}

// What memory grew by with each iteration.
static void marks_print(struct text_out *out, const struct comparison *comparison, uint64_t top) {
  struct mark_pairs pairs = mark_pairs_make(comparison);
  if (pairs.count) {
    text_print(out, STYLE_PLAIN, "\n");
    text_print(out, STYLE_HEADING, "MARKS");
    text_print(out, STYLE_PLAIN, "%22s %12s %12s  growth each time\n", "base", "new", "change");
  }
  for (size_t i = 0; i < pairs.count && i < top; i++) mark_print(out, &pairs.items[i]);
  if (top < pairs.count)
    text_print(out, STYLE_DIM, "  ... %zu more name%s (--top)\n", (size_t)(pairs.count - top),
               plural(pairs.count - top));
  mark_pairs_free(&pairs);
}

static void small_print(struct text_out *out, const struct comparison *comparison) {
  char bytes[UNITS_TEXT];
  if (!comparison->small_sites) return;
  text_print(out, STYLE_DIM, "  %llu site%s changed by 64 KiB or less, or by 10 %% or less: %s live in all\n",
             (unsigned long long)comparison->small_sites, plural(comparison->small_sites),
             difference_text(bytes, comparison->small_bytes));
}

static void notes_print(struct text_out *out, const struct comparison *comparison) {
  for (size_t i = 0; i < comparison->note_count; i++) {
    text_print(out, STYLE_PLAIN, "  note: ");
    text_print_foreign(out, STYLE_PLAIN, comparison->notes[i], NOTE_WIDTH);
    text_print(out, STYLE_PLAIN, "\n");
  }
}

void diff_text(struct text_out *out, const struct comparison *comparison, uint64_t top) {
  process_print(out, "base", comparison->judgements[SIDE_BASE]);
  process_print(out, "new", comparison->judgements[SIDE_NEW]);
  size_t first = 0;
  for (int change = 0; change < CHANGE_COUNT; first += comparison->counts[change++])
    changes_print(out, &comparison->changes[first], comparison->counts[change], (enum change)change, top);
  if (!comparison->change_count) text_print(out, STYLE_GOOD, "\nno site has changed\n");
  marks_print(out, comparison, top);
  totals_print(out, comparison);
  small_print(out, comparison);
  notes_print(out, comparison);
}

void diff_text_same(struct text_out *out, const struct comparison *comparison) {
  const struct judgement *shown =
      comparison->judgements[SIDE_NEW] ? comparison->judgements[SIDE_NEW] : comparison->judgements[SIDE_BASE];
  const char *where = !comparison->judgements[SIDE_BASE]  ? "only in NEW, holds nothing that counts"
                      : !comparison->judgements[SIDE_NEW] ? "only in BASE, held nothing that counts"
                                                          : "no site has changed";
  char name[PROGRAM_NAME_BYTES];
  program_name_of(shown->report, name);
  text_print(out, STYLE_HEADING, "SAME");
  text_print(out, STYLE_PLAIN, "  pid %u, %s, ", shown->report->process->pid, where);
  text_print_foreign(out, STYLE_BOLD, name, NAME_WIDTH);
  text_print(out, STYLE_PLAIN, "\n");
}
