#include "report_text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "holders.h"
#include "memory.h"
#include "report_gpu.h"
#include "report_marks_text.h"
#include "units.h"

static const char *const kind_names[] = HT_KIND_NAMES;
static const char *const reason_names[] = HT_REASON_NAMES;

enum { STACK_FRAMES = 8, COMMAND_WIDTH = 100, TEXT_WIDTH = 300 };

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

// ---- head

static char *command_line(const struct report *report) {
  const char *argument = report->strings + report->process->argv;
  char *line = memory_format("%s", report->process->argc ? path_name(argument)
                                                         : path_name(report->strings + report->process->exe));
  for (uint32_t i = 1; i < report->process->argc && strlen(line) < 4 * COMMAND_WIDTH; i++) {
    argument += strlen(argument) + 1;
    char *longer = memory_format("%s %s", line, argument);
    free(line);
    line = longer;
  }
  return line;
}

static char *ending_words(const struct ht_file_process *process) {
  const char *name = process->signal ? sigabbrev_np((int)process->signal) : NULL;
  if (name) return memory_format("%s by SIG%s", reason_names[process->reason], name);
  return memory_format("%s", reason_names[process->reason]);
}

static void head_print(struct text_out *out, const struct judgement *judgement) {
  const struct report *report = judgement->report;
  const struct ht_file_process *process = report->process;
  char duration[UNITS_TEXT], started[40];
  time_t at = (time_t)(process->started_unix_ns / 1000000000);
  struct tm local;
  localtime_r(&at, &local);
  strftime(started, sizeof started, "%Y-%m-%d %H:%M:%S", &local);
  char *line = command_line(report), *ending = ending_words(process);
  text_print_foreign(out, STYLE_BOLD, line, COMMAND_WIDTH);
  text_print(out, STYLE_PLAIN, "  pid %u, %s, %s, started %s", process->pid, ending,
             seconds_text(duration, seconds_of(process->duration_ns)), started);
  if (process->label) {
    text_print(out, STYLE_PLAIN, ", ");
    text_print_foreign(out, STYLE_BOLD, report->strings + process->label, COMMAND_WIDTH);
  }
  if (process->rank != UINT32_MAX) text_print(out, STYLE_PLAIN, ", rank %u", process->rank);
  if (report_is_estimated(report)) text_print(out, STYLE_PLAIN, ESTIMATED_WORDS);
  text_print(out, STYLE_PLAIN, "\n");
  free(line);
  free(ending);
}

static void heading_print(struct text_out *out, const char *heading) {
  text_print(out, STYLE_PLAIN, "\n");
  text_print(out, STYLE_HEADING, "%s", heading);
}

static void more_print(struct text_out *out, uint64_t shown, uint64_t count) {
  if (shown < count)
    text_print(out, STYLE_DIM, "  ... %llu more site%s (--top)\n", (unsigned long long)(count - shown),
               plural(count - shown));
}

static void stack_print(struct text_out *out, const struct judgement *judgement, const struct row *row) {
  text_print_stack(out, judgement->stacks, row->stack, STACK_FRAMES);
}

static void held_print(struct text_out *out, const struct row *row) {
  if (!row->held_count) return;
  text_print(out, STYLE_DIM, "               held by: ");
  for (size_t i = 0; i < row->held_count; i++) {
    text_print(out, STYLE_PLAIN, "%s", i ? " << " : "");
    text_print_foreign(out, STYLE_PLAIN, row->held_by[i], COMMAND_WIDTH);
  }
  text_print(out, STYLE_PLAIN, "\n");
}

// ---- leaks

static void leak_print(struct text_out *out, const struct judgement *judgement, const struct row *row) {
  char all[UNITS_TEXT], direct[UNITS_TEXT], indirect[UNITS_TEXT], blocks[UNITS_TEXT];
  uint64_t count = row->direct_blocks + row->indirect_blocks;
  bytes_text(all, row->direct_bytes + row->indirect_bytes);
  bytes_text(direct, row->direct_bytes);
  bytes_text(indirect, row->indirect_bytes);
  text_print(out, STYLE_BAD, "%12s", all);
  text_print(out, STYLE_PLAIN, "  in %s block%s of %s, ", count_text(blocks, count), plural(count),
             kind_names[row->kind]);
  if (row->direct_blocks && row->indirect_blocks)
    text_print(out, STYLE_PLAIN, "%s direct and %s indirect\n", direct, indirect);
  else
    text_print(out, STYLE_PLAIN, "%s\n", row->direct_blocks ? "direct" : "indirect");
  stack_print(out, judgement, row);
}

static void suppressed_print(struct text_out *out, const struct judgement *judgement) {
  char bytes[UNITS_TEXT];
  if (judgement->suppressed_sites)
    text_print(out, STYLE_DIM, "  %s at %llu site%s suppressed\n", bytes_text(bytes, judgement->suppressed_bytes),
               (unsigned long long)judgement->suppressed_sites, plural(judgement->suppressed_sites));
}

static void leaks_print(struct text_out *out, const struct judgement *judgement, uint64_t top) {
  char bytes[UNITS_TEXT], blocks[UNITS_TEXT];
  uint64_t shown = 0;
  heading_print(out, "LEAKS");
  if (!judgement_leaks_known(judgement))
    text_print(out, STYLE_PLAIN, "  not looked for\n");
  else if (!judgement->leaked_sites)
    text_print(out, STYLE_GOOD, "  none\n");
  else
    text_print(out, STYLE_PLAIN, "  %s in %s block%s at %llu site%s\n",
               bytes_text(bytes, judgement->leaked_direct_bytes + judgement->leaked_indirect_bytes),
               count_text(blocks, judgement->leaked_blocks), plural(judgement->leaked_blocks),
               (unsigned long long)judgement->leaked_sites, plural(judgement->leaked_sites));
  for (size_t i = 0; i < judgement->leaks.count && shown < top; i++) {
    const struct row *row = &judgement->rows[judgement->leaks.rows[i]];
    if (row->suppressed) continue;
    leak_print(out, judgement, row);
    shown++;
  }
  more_print(out, shown, judgement->leaked_sites);
  suppressed_print(out, judgement);
}

// ---- growth

static void verdict_print(struct text_out *out, const char *pool, const struct growth *growth) {
  static const char *const words[] = {"pass", "FAIL", "n/a"};
  static const enum text_style styles[] = {STYLE_GOOD, STYLE_BAD, STYLE_PLAIN};
  char rate[UNITS_TEXT];
  text_print(out, styles[growth->verdict], "  %s", words[growth->verdict]);
  text_print(out, STYLE_PLAIN, "  %s%s", pool, growth->why);
  if (growth->verdict == VERDICT_FAIL)
    text_print(out, STYLE_PLAIN, ", %s/s", bytes_text(rate, (uint64_t)growth->slope_bytes_per_s));
  text_print(out, STYLE_PLAIN, "\n");
}

static void sparkline_print(struct text_out *out, const struct report *report) {
  double *bytes = memory_get(report->sample_count, sizeof *bytes);
  for (uint32_t i = 0; i < report->sample_count; i++)
    for (int kind = 0; kind < HT_KIND_COUNT; kind++) bytes[i] += (double)report->samples[i].live_bytes[kind];
  text_print_sparkline(out, 2, bytes, report->sample_count);
  free(bytes);
}

static void curve_print(struct text_out *out, const struct judgement *judgement, uint32_t row) {
  enum { INDENT = 15 }; // where the stacks begin
  for (size_t i = 0; i < judgement->curves.count; i++)
    if (judgement->curves.items[i].row == row)
      text_print_sparkline(out, INDENT, judgement->curves.items[i].bytes, judgement->curves.items[i].points->count);
}

static void growth_print(struct text_out *out, const struct judgement *judgement, uint64_t top) {
  char rate[UNITS_TEXT], live[UNITS_TEXT];
  heading_print(out, "GROWTH");
  verdict_print(out, "", &judgement->cpu);
  if (judgement->device.verdict != VERDICT_NONE) verdict_print(out, "device memory ", &judgement->device);
  sparkline_print(out, judgement->report);
  for (size_t i = 0; i < judgement->growing.count && i < top; i++) {
    const struct row *row = &judgement->rows[judgement->growing.items[i].row];
    text_print(out, STYLE_PLAIN, "%12s/s  up, %s of %s live at the end\n",
               bytes_text(rate, (uint64_t)judgement->growing.items[i].bytes_per_s), bytes_text(live, row->live_bytes),
               kind_names[row->kind]);
    stack_print(out, judgement, row);
    curve_print(out, judgement, judgement->growing.items[i].row);
  }
  more_print(out, top, judgement->growing.count);
}

// ---- peak, hotspots, temporaries, sizes

static void peak_print(struct text_out *out, const struct judgement *judgement, uint64_t top) {
  const struct ht_file_process *process = judgement->report->process;
  char bytes[UNITS_TEXT], blocks[UNITS_TEXT], at[UNITS_TEXT];
  heading_print(out, "PEAK");
  text_print(out, STYLE_PLAIN, "  %s at %s\n", bytes_text(bytes, process->peak_bytes),
             seconds_text(at, seconds_of(process->peak_ns)));
  for (size_t i = 0; i < judgement->peak.count && i < top; i++) {
    const struct row *row = &judgement->rows[judgement->peak.rows[i]];
    text_print(out, STYLE_BOLD, "%12s", bytes_text(bytes, row->peak_bytes));
    text_print(out, STYLE_PLAIN, "  in %s block%s of %s\n", count_text(blocks, row->peak_blocks),
               plural(row->peak_blocks), kind_names[row->kind]);
    stack_print(out, judgement, row);
    held_print(out, row);
  }
  more_print(out, top, judgement->peak.count);
}

static void hotspots_print(struct text_out *out, const struct judgement *judgement, uint64_t top) {
  char calls[UNITS_TEXT], bytes[UNITS_TEXT];
  heading_print(out, "HOTSPOTS");
  text_print(out, STYLE_PLAIN, "  %s allocation%s\n", count_text(calls, judgement->allocations),
             plural(judgement->allocations));
  for (size_t i = 0; i < judgement->hotspots.count && i < top; i++) {
    const struct row *row = &judgement->rows[judgement->hotspots.rows[i]];
    text_print(out, STYLE_BOLD, "%12s", count_text(calls, row->allocations));
    text_print(out, STYLE_PLAIN, "  allocation%s of %s, %s in all\n", plural(row->allocations), kind_names[row->kind],
               bytes_text(bytes, row->allocated_bytes));
    stack_print(out, judgement, row);
  }
  more_print(out, top, judgement->hotspots.count);
}

static void temporaries_print(struct text_out *out, const struct judgement *judgement, uint64_t top) {
  char count[UNITS_TEXT], all[UNITS_TEXT];
  heading_print(out, "TEMPORARIES");
  text_print(out, STYLE_PLAIN, "  %s of %s allocation%s were freed as the thread's next step\n",
             count_text(count, judgement->temporaries_total), count_text(all, judgement->allocations),
             plural(judgement->allocations));
  for (size_t i = 0; i < judgement->temporaries.count && i < top; i++) {
    const struct row *row = &judgement->rows[judgement->temporaries.rows[i]];
    text_print(out, STYLE_BOLD, "%12s", count_text(count, row->temporaries));
    text_print(out, STYLE_PLAIN, "  of %s allocation%s of %s\n", count_text(all, row->allocations),
               plural(row->allocations), kind_names[row->kind]);
    stack_print(out, judgement, row);
  }
  more_print(out, top, judgement->temporaries.count);
}

// A power of two without decimals.
static char *power_text(char text[UNITS_TEXT], uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 6; unit++) bytes /= 1024;
  snprintf(text, UNITS_TEXT, "%llu %s", (unsigned long long)bytes, units[unit]);
  return text;
}

static void sizes_print(struct text_out *out, const struct judgement *judgement) {
  const struct report *report = judgement->report;
  char up_to[UNITS_TEXT], calls[UNITS_TEXT], bytes[UNITS_TEXT];
  heading_print(out, "SIZES");
  text_print(out, STYLE_PLAIN, "\n");
  for (uint32_t i = 0; i < report->size_count; i++) {
    const struct ht_file_size *size = &report->sizes[i];
    if (!size->allocations) continue;
    double share = judgement->allocations ? 100.0 * (double)size->allocations / (double)judgement->allocations : 0;
    text_print(out, STYLE_PLAIN, "%12s and less %14s allocation%-1s %5.1f %% %12s\n",
               power_text(up_to, size->up_to_bytes), count_text(calls, size->allocations), plural(size->allocations),
               share, bytes_text(bytes, size->bytes));
  }
}

// ---- Python

static void types_print(struct text_out *out, const struct row_types *row) {
  char bytes[UNITS_TEXT];
  if (!row->count) return;
  text_print(out, STYLE_DIM, "               of type: ");
  for (size_t i = 0; i < row->count; i++) {
    text_print(out, STYLE_PLAIN, "%s", i ? ", " : "");
    text_print_foreign(out, STYLE_PLAIN, row->types[i].name, COMMAND_WIDTH);
    text_print(out, STYLE_PLAIN, " %s", bytes_text(bytes, row->types[i].bytes));
  }
  text_print(out, STYLE_PLAIN, "\n");
}

static void python_row_print(struct text_out *out, const struct judgement *judgement, const struct python_row *python) {
  const struct row *row = &judgement->rows[python->row];
  char live[UNITS_TEXT], blocks[UNITS_TEXT], peak[UNITS_TEXT], calls[UNITS_TEXT];
  text_print(out, python->leaked ? STYLE_BAD : STYLE_BOLD, "%12s", bytes_text(live, python->live_bytes));
  text_print(out, STYLE_PLAIN, "  %s in %s block%s, %s allocation%s", python->leaked ? "leaked" : "live",
             count_text(blocks, python->live_blocks), plural(python->live_blocks),
             count_text(calls, python->allocations), plural(python->allocations));
  if (python->peak_known) text_print(out, STYLE_PLAIN, ", %s at the peak", bytes_text(peak, python->peak_bytes));
  text_print(out, STYLE_PLAIN, "\n");
  stack_print(out, judgement, row);
  types_print(out, python->leaked ? &row->lost_types : &row->types);
  if (!python->leaked) held_print(out, row); // a lost row's would be who holds the site's other objects
}

// Under a tenth of what is live it is not worth a line.
enum { PINNED_PART = 10, PINNED_SHOWN = 2 };

static void pinned_print(struct text_out *out, const struct judgement *judgement) {
  const struct report *report = judgement->report;
  char bytes[UNITS_TEXT], blocks[UNITS_TEXT];
  if (!report->pinned_count ||
      report->pinned[0].bytes < report->process->kinds[HT_KIND_PYTHON].live_bytes / PINNED_PART)
    return;
  text_print(out, STYLE_PLAIN, "               of the free, %s in pools that few blocks hold:\n",
             bytes_text(bytes, report->pinned[0].bytes));
  for (size_t i = 0; i < judgement->pinned_count && i < PINNED_SHOWN; i++) {
    const struct pinned_row *pinned = &judgement->pinned[i];
    const struct shown_frame *site = stack_site(judgement->stacks, pinned->stack);
    char *words = site ? frame_words(site) : memory_format("[unknown]");
    text_print(out, STYLE_PLAIN, "               %s pinned by %s block%s of ", bytes_text(bytes, pinned->bytes),
               count_text(blocks, pinned->blocks), plural(pinned->blocks));
    text_print_foreign(out, STYLE_PLAIN, words, COMMAND_WIDTH);
    text_print(out, STYLE_PLAIN, "\n");
    free(words);
  }
}

static void python_print(struct text_out *out, const struct judgement *judgement, uint64_t top) {
  const struct ht_file_process *process = judgement->report->process;
  char bytes[UNITS_TEXT];
  if (!(process->flags & HT_PROCESS_PYTHON) && !judgement->python_count) return;
  heading_print(out, "PYTHON");
  text_print(out, STYLE_PLAIN, "  %s live", bytes_text(bytes, process->kinds[HT_KIND_PYTHON].live_bytes));
  if (judgement->python_leaked_blocks)
    text_print(out, STYLE_BAD, ", %s leaked", bytes_text(bytes, judgement->python_leaked_bytes));
  if (process->python_arena_free_bytes)
    text_print(out, STYLE_PLAIN, "; python arenas, free: %s", bytes_text(bytes, process->python_arena_free_bytes));
  text_print(out, STYLE_PLAIN, "\n");
  pinned_print(out, judgement);
  uint64_t shown = 0;
  for (size_t i = 0; i < judgement->python_count; i++) {
    if (!judgement_python_shown(judgement, i, top)) continue;
    python_row_print(out, judgement, &judgement->python[i]);
    shown++;
  }
  more_print(out, shown, judgement->python_count);
}

// ---- summary

static void summary_line(struct text_out *out, const char *name, const char *value, const char *detail) {
  text_print(out, STYLE_PLAIN, "  %-14s %14s%s%s\n", name, value, *detail ? "  " : "", detail);
}

static void summary_calls(struct text_out *out, const struct judgement *judgement) {
  char value[UNITS_TEXT], detail[UNITS_TEXT + 8] = "";
  double seconds = seconds_of(judgement->report->process->duration_ns);
  if (seconds > 0) {
    count_text(detail, (uint64_t)((double)judgement->allocations / seconds));
    strcat(detail, " a second");
  }
  summary_line(out, "allocations", count_text(value, judgement->allocations), detail);
  summary_line(out, "frees", count_text(value, judgement->frees), "");
  double share =
      judgement->allocations ? 100.0 * (double)judgement->temporaries_total / (double)judgement->allocations : 0;
  snprintf(detail, sizeof detail, "%.1f %%", share);
  summary_line(out, "temporaries", count_text(value, judgement->temporaries_total), detail);
}

static char *blocks_text(char text[UNITS_TEXT + 8], uint64_t blocks) {
  count_text(text, blocks);
  return strcat(text, blocks == 1 ? " block" : " blocks");
}

static void summary_print(struct text_out *out, const struct judgement *judgement) {
  const struct ht_file_process *process = judgement->report->process;
  char value[UNITS_TEXT], detail[UNITS_TEXT + 8];
  heading_print(out, "SUMMARY");
  text_print(out, STYLE_PLAIN, "\n");
  summary_line(out, "run time", seconds_text(value, seconds_of(process->duration_ns)), "");
  summary_calls(out, judgement);
  char at[UNITS_TEXT];
  snprintf(detail, sizeof detail, "at %s", seconds_text(at, seconds_of(process->peak_ns)));
  summary_line(out, "peak", bytes_text(value, process->peak_bytes), detail);
  if (process->peak_rss_bytes) summary_line(out, "peak RSS", bytes_text(value, process->peak_rss_bytes), "");
  summary_line(out, "live at end", bytes_text(value, process->live_bytes), "");
  uint64_t leaked = judgement->leaked_direct_bytes + judgement->leaked_indirect_bytes;
  bool known = judgement_leaks_known(judgement);
  summary_line(out, "leaked", known ? bytes_text(value, leaked) : "not looked for",
               leaked ? blocks_text(detail, judgement->leaked_blocks) : "");
  if (judgement->python_leaked_blocks)
    summary_line(out, "leaked, Python", bytes_text(value, judgement->python_leaked_bytes),
                 blocks_text(detail, judgement->python_leaked_blocks));
  if (process->own_bytes)
    summary_line(out, "heaptide's own", bytes_text(value, process->own_bytes), "not in any figure above");
}

static void note_print(struct text_out *out, const char *note) {
  text_print(out, STYLE_PLAIN, "  note: ");
  text_print_foreign(out, STYLE_PLAIN, note, TEXT_WIDTH);
  text_print(out, STYLE_PLAIN, "\n");
}

void report_text(struct text_out *out, const struct judgement *judgement, uint64_t top) {
  head_print(out, judgement);
  report_gpu_failures(out, judgement, top);
  leaks_print(out, judgement, top);
  growth_print(out, judgement, top);
  report_marks_text(out, judgement->report, top);
  peak_print(out, judgement, top);
  hotspots_print(out, judgement, top);
  temporaries_print(out, judgement, top);
  sizes_print(out, judgement);
  python_print(out, judgement, top);
  report_gpu_text(out, judgement, top);
  summary_print(out, judgement);
  for (size_t i = 0; i < judgement->note_count; i++) note_print(out, judgement->notes[i]);
}

void report_text_quiet(struct text_out *out, const struct judgement *judgement) {
  const struct ht_file_process *process = judgement->report->process;
  char duration[UNITS_TEXT], peak[UNITS_TEXT], leaked[UNITS_TEXT];
  uint64_t leaked_bytes = judgement->leaked_direct_bytes + judgement->leaked_indirect_bytes;
  char *line = command_line(judgement->report);
  text_print(out, STYLE_HEADING, "QUIET");
  text_print(out, STYLE_PLAIN, "  pid %u, %s, peak %s, %s%s, ", process->pid,
             seconds_text(duration, seconds_of(process->duration_ns)), bytes_text(peak, process->peak_bytes),
             judgement_leaks_known(judgement) ? "leaked " : "leaks not looked for",
             judgement_leaks_known(judgement) ? bytes_text(leaked, leaked_bytes) : "");
  text_print_foreign(out, STYLE_BOLD, line, COMMAND_WIDTH);
  text_print(out, STYLE_PLAIN, "%s\n", judgement->helper ? ", started by Mojo's runtime for itself" : "");
  free(line);
}
