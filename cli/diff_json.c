#include "diff_json.h"

#include "json_frames.h"
#include "json_marks.h"
#include "json_out.h"
#include "units.h"

static const char *const change_names[] = CHANGE_NAMES;
static const char *const figure_names[] = FIGURE_NAMES;
static const char *const kind_names[] = HT_KIND_NAMES;
static const char *const side_names[] = {"base", "new"};

static void process_write(struct json_out *out, const char *key, const struct judgement *judgement) {
  if (!judgement) {
    out_null(out, key);
    return;
  }
  const struct report *report = judgement->report;
  const struct ht_file_process *process = report->process;
  out_open(out, key, '{');
  out_count(out, "pid", process->pid);
  out_text(out, "exe", report->strings + process->exe);
  out_open(out, "argv", '[');
  for (uint32_t i = 0; i < process->argc; i++) out_text(out, NULL, report_argument(report, i));
  out_close(out, ']');
  out_bool(out, "main", process->flags & HT_PROCESS_MAIN);
  out_text(out, "label", process->label ? report->strings + process->label : NULL);
  out_known(out, "rank", process->rank != UINT32_MAX, process->rank);
  out_number(out, "seconds", seconds_of(process->duration_ns), 6);
  out_close(out, '}');
}

static void figures_write(struct json_out *out, const char *key, const struct figures *figures, bool peak_blocks) {
  out_open(out, key, '{');
  out_count(out, "leaked_bytes", figures->bytes[FIGURE_LEAKED]);
  out_count(out, "leaked_blocks", figures->blocks[FIGURE_LEAKED]);
  out_count(out, "live_bytes", figures->bytes[FIGURE_LIVE]);
  out_count(out, "live_blocks", figures->blocks[FIGURE_LIVE]);
  out_count(out, "peak_bytes", figures->bytes[FIGURE_PEAK]);
  if (peak_blocks) out_count(out, "peak_blocks", figures->blocks[FIGURE_PEAK]);
  out_count(out, "allocations", figures->allocations);
  out_close(out, '}');
}

static void change_write(struct json_out *out, const struct site_change *change) {
  out_open(out, NULL, '{');
  out_text(out, "change", change_names[change->change]);
  out_text(out, "figure", figure_names[change->figure]);
  out_text(out, "kind", kind_names[change->kind]);
  for (int side = 0; side < SIDE_COUNT; side++) figures_write(out, side_names[side], &change->sides[side], true);
  json_site(out, change->stacks, change->stack);
  json_stack(out, change->stacks, change->stack);
  out_close(out, '}');
}

static void summary_write(struct json_out *out, const struct comparison *comparison) {
  out_open(out, "summary", '{');
  for (int side = 0; side < SIDE_COUNT; side++)
    if (comparison->judgements[side])
      figures_write(out, side_names[side], &comparison->totals[side], false);
    else
      out_null(out, side_names[side]);
  out_close(out, '}');
  out_open(out, "counts", '{');
  for (int change = 0; change < CHANGE_COUNT; change++)
    out_count(out, change_names[change], comparison->counts[change]);
  out_close(out, '}');
  out_open(out, "small", '{');
  out_count(out, "sites", comparison->small_sites);
  out_number(out, "live_bytes", (double)comparison->small_bytes, 0);
  out_close(out, '}');
}

void diff_json(FILE *stream, const struct comparison *comparison) {
  struct json_out out = {.stream = stream};
  out_open(&out, NULL, '{');
  out_text(&out, "schema", "heaptide-diff/1");
  for (int side = 0; side < SIDE_COUNT; side++) process_write(&out, side_names[side], comparison->judgements[side]);
  summary_write(&out, comparison);
  out_open(&out, "changes", '[');
  for (size_t i = 0; i < comparison->change_count; i++) change_write(&out, &comparison->changes[i]);
  out_close(&out, ']');
  json_mark_pairs(&out, comparison);
  out_open(&out, "notes", '[');
  for (size_t i = 0; i < comparison->note_count; i++) out_text(&out, NULL, comparison->notes[i]);
  out_close(&out, ']');
  out_close(&out, '}');
  fputc('\n', stream);
}
