#include "report_json.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fork_family.h"
#include "json_frames.h"
#include "json_marks.h"
#include "json_out.h"
#include "marks.h"
#include "memory.h"
#include "report_gpu.h"
#include "units.h"
#include "workers.h"

static const char *const kind_names[] = HT_KIND_NAMES;
static const char *const reason_names[] = HT_REASON_NAMES;

enum { SECONDS_DECIMALS = 6 };

// ---- rows

static void held_write(struct json_out *out, const struct row *row) {
  if (!row->held_count) {
    out_null(out, "held_by");
    return;
  }
  out_open(out, "held_by", '[');
  for (size_t i = 0; i < row->held_count; i++) out_text(out, NULL, row->held_by[i]);
  out_close(out, ']');
}

static void kind_write(struct json_out *out, const struct row *row) { out_text(out, "kind", kind_names[row->kind]); }

static void row_end(struct json_out *out, const struct judgement *judgement, const struct row *row) {
  json_site(out, judgement->stacks, row->stack);
  json_stack(out, judgement->stacks, row->stack);
}

// ---- threads' shares of a row

typedef void row_write(struct json_out *out, const struct row *row);

static void owner_write(struct json_out *out, const struct report *report, uint32_t owner) {
  const struct ht_file_owner *thread = &report->owners[owner]; // of 0, unknown, there is an empty one
  out_known(out, "tid", thread->tid, thread->tid);
  out_text(out, "name", thread->name ? report->strings + thread->name : NULL);
}

// `amount`: of a share that is to be listed, over 0. Null without --per-thread.
static void shares_write(struct json_out *out, const struct judgement *judgement, uint32_t row,
                         uint64_t (*amount)(const struct row *), row_write *figures) {
  const struct row_shares *shares = &judgement->shares;
  if (!shares->count) {
    out_null(out, "threads");
    return;
  }
  out_open(out, "threads", '[');
  for (size_t i = shares->first[row]; i < shares->first[row + 1]; i++) {
    if (!amount(&shares->rows[i])) continue;
    out_open(out, NULL, '{');
    owner_write(out, judgement->report, shares->rows[i].owner);
    figures(out, &shares->rows[i]);
    out_close(out, '}');
  }
  out_close(out, ']');
}

// ---- head and summary

static void started_write(struct json_out *out, uint64_t unix_ns) {
  char text[40];
  time_t seconds = (time_t)(unix_ns / 1000000000);
  struct tm utc;
  gmtime_r(&seconds, &utc);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  out_text(out, "started", text);
}

static void signal_write(struct json_out *out, uint32_t signal) {
  const char *name = signal ? sigabbrev_np((int)signal) : NULL;
  char *text = !signal ? NULL : name ? memory_format("SIG%s", name) : memory_format("SIG%u", signal);
  out_text(out, "signal", text);
  free(text);
}

static void head_write(struct json_out *out, const struct judgement *judgement) {
  const struct report *report = judgement->report;
  const struct ht_file_process *process = report->process;
  out_text(out, "schema", "heaptide-report/1");
  if (report_is_estimated(report)) out_bool(out, "estimated", true);
  out_count(out, "pid", process->pid);
  out_count(out, "ppid", process->ppid);
  out_text(out, "exe", report->strings + process->exe);
  out_open(out, "argv", '[');
  const char *argument = report->strings + process->argv;
  for (uint32_t i = 0; i < process->argc; i++, argument += strlen(argument) + 1) out_text(out, NULL, argument);
  out_close(out, ']');
  out_bool(out, "main", process->flags & HT_PROCESS_MAIN);
  out_bool(out, "quiet", judgement->quiet);
  out_text(out, "reason", reason_names[process->reason]);
  signal_write(out, process->signal);
  out_text(out, "label", process->label ? report->strings + process->label : NULL);
  out_bool(out, "attached", process->flags & HT_PROCESS_ATTACHED);
  out_known(out, "rank", process->rank != UINT32_MAX, process->rank);
  started_write(out, process->started_unix_ns);
  out_number(out, "seconds", seconds_of(process->duration_ns), SECONDS_DECIMALS);
}

static void kinds_write(struct json_out *out, const struct ht_file_process *process) {
  out_open(out, "by_kind", '{');
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) {
    const struct ht_file_kind *figures = &process->kinds[kind];
    out_open(out, kind_names[kind], '{');
    out_count(out, "live_bytes", figures->live_bytes);
    out_count(out, "peak_bytes", figures->peak_bytes);
    out_count(out, "allocations", figures->allocations);
    out_count(out, "allocated_bytes", figures->allocated_bytes);
    out_close(out, '}');
  }
  out_close(out, '}');
}

static void summary_write(struct json_out *out, const struct judgement *judgement) {
  const struct ht_file_process *process = judgement->report->process;
  out_open(out, "summary", '{');
  out_count(out, "allocations", judgement->allocations);
  out_count(out, "frees", judgement->frees);
  out_count(out, "temporaries", judgement->temporaries_total);
  out_count(out, "peak_bytes", process->peak_bytes);
  out_number(out, "peak_seconds", seconds_of(process->peak_ns), SECONDS_DECIMALS);
  out_count(out, "live_bytes", process->live_bytes);
  out_known(out, "peak_rss_bytes", process->peak_rss_bytes, process->peak_rss_bytes);
  bool leaks_known = judgement_leaks_known(judgement);
  out_known(out, "leaked_direct_bytes", leaks_known, judgement->leaked_direct_bytes);
  out_known(out, "leaked_indirect_bytes", leaks_known, judgement->leaked_indirect_bytes);
  out_known(out, "leaked_blocks", leaks_known, judgement->leaked_blocks);
  kinds_write(out, process);
  out_close(out, '}');
}

// ---- lists

static void leak_write(struct json_out *out, const struct row *row) {
  out_count(out, "direct_bytes", row->direct_bytes);
  out_count(out, "indirect_bytes", row->indirect_bytes);
  out_count(out, "blocks", row->direct_blocks + row->indirect_blocks);
}

static void peak_write(struct json_out *out, const struct row *row) {
  out_count(out, "bytes", row->peak_bytes);
  out_count(out, "blocks", row->peak_blocks);
}

static void hotspot_write(struct json_out *out, const struct row *row) {
  out_count(out, "allocations", row->allocations);
  out_count(out, "allocated_bytes", row->allocated_bytes);
}

static void temporary_write(struct json_out *out, const struct row *row) {
  out_count(out, "temporaries", row->temporaries);
}

static uint64_t leak_amount(const struct row *row) { return row->direct_blocks + row->indirect_blocks; }
static uint64_t peak_amount(const struct row *row) { return row->peak_bytes; }
static uint64_t hotspot_amount(const struct row *row) { return row->allocations; }
static uint64_t temporary_amount(const struct row *row) { return row->temporaries; }

static const struct list_form {
  const char *key;
  row_write *figures;
  uint64_t (*amount)(const struct row *row);
  bool suppressed, held;
} form_leaks = {"leaks", leak_write, leak_amount, .suppressed = true},
  form_peak = {"peak", peak_write, peak_amount, .held = true},
  form_hotspots = {"hotspots", hotspot_write, hotspot_amount, .held = false},
  form_temporaries = {"temporaries", temporary_write, temporary_amount, .held = false};

static void list_write(struct json_out *out, const struct judgement *judgement, const struct list_form *form,
                       const struct row_list *list, uint64_t top) {
  out_open(out, form->key, '[');
  for (size_t i = 0; i < list->count && i < top; i++) {
    const struct row *row = &judgement->rows[list->rows[i]];
    out_open(out, NULL, '{');
    kind_write(out, row);
    form->figures(out, row);
    if (form->suppressed) out_bool(out, "suppressed", row->suppressed);
    shares_write(out, judgement, list->rows[i], form->amount, form->figures);
    row_end(out, judgement, row);
    if (form->held) held_write(out, row);
    out_close(out, '}');
  }
  out_close(out, ']');
}

static void types_write(struct json_out *out, const struct row_types *row) {
  if (!row->count) {
    out_null(out, "types");
    return;
  }
  out_open(out, "types", '[');
  for (size_t i = 0; i < row->count; i++) {
    out_open(out, NULL, '{');
    out_text(out, "type", row->types[i].name);
    out_count(out, "blocks", row->types[i].blocks);
    out_count(out, "bytes", row->types[i].bytes);
    out_close(out, '}');
  }
  out_close(out, ']');
}

static void python_figures_write(struct json_out *out, const struct python_row *python) {
  out_count(out, "live_bytes", python->live_bytes);
  out_count(out, "live_blocks", python->live_blocks);
  out_known(out, "peak_bytes", python->peak_known, python->peak_bytes);
  out_count(out, "allocations", python->allocations);
}

static void python_shares_write(struct json_out *out, const struct judgement *judgement,
                                const struct python_row *python) {
  const struct row_shares *shares = &judgement->shares;
  if (!shares->count) {
    out_null(out, "threads");
    return;
  }
  out_open(out, "threads", '[');
  for (size_t i = shares->first[python->row]; i < shares->first[python->row + 1]; i++) {
    struct python_row share = judgement_python_share(judgement, python, i);
    if (!share.live_blocks && !share.allocations && !share.peak_bytes) continue;
    out_open(out, NULL, '{');
    owner_write(out, judgement->report, shares->rows[i].owner);
    python_figures_write(out, &share);
    out_close(out, '}');
  }
  out_close(out, ']');
}

static void python_write(struct json_out *out, const struct judgement *judgement, uint64_t top) {
  out_open(out, "python", '[');
  for (size_t i = 0; i < judgement->python_count; i++) {
    if (!judgement_python_shown(judgement, i, top)) continue;
    const struct python_row *python = &judgement->python[i];
    const struct row *row = &judgement->rows[python->row];
    out_open(out, NULL, '{');
    python_figures_write(out, python);
    out_bool(out, "leaked", python->leaked);
    types_write(out, python->leaked ? &row->lost_types : &row->types);
    python_shares_write(out, judgement, python);
    row_end(out, judgement, row);
    if (python->leaked)
      out_null(out, "held_by"); // the site's holders are those of its other objects
    else
      held_write(out, row);
    out_close(out, '}');
  }
  out_close(out, ']');
}

static void sizes_write(struct json_out *out, const struct report *report) {
  out_open(out, "sizes", '[');
  for (uint32_t i = 0; i < report->size_count; i++) {
    if (!report->sizes[i].allocations) continue;
    out_open(out, NULL, '{');
    out_count(out, "up_to", report->sizes[i].up_to_bytes);
    out_count(out, "allocations", report->sizes[i].allocations);
    out_count(out, "bytes", report->sizes[i].bytes);
    out_close(out, '}');
  }
  out_close(out, ']');
}

// What Python's arenas hold beyond the objects in them; null without --py.
static void arenas_write(struct json_out *out, const struct judgement *judgement) {
  const struct report *report = judgement->report;
  if (!(report->process->flags & HT_PROCESS_PYTHON)) {
    out_null(out, "python_arenas");
    return;
  }
  out_open(out, "python_arenas", '{');
  out_count(out, "free_bytes", report->process->python_arena_free_bytes);
  out_count(out, "pinned_bytes", report->pinned_count ? report->pinned[0].bytes : 0);
  out_open(out, "pinned_by", '[');
  for (size_t i = 0; i < judgement->pinned_count; i++) {
    const struct pinned_row *pinned = &judgement->pinned[i];
    out_open(out, NULL, '{');
    out_count(out, "bytes", pinned->bytes);
    out_count(out, "blocks", pinned->blocks);
    json_site(out, judgement->stacks, pinned->stack);
    json_stack(out, judgement->stacks, pinned->stack);
    out_close(out, '}');
  }
  out_close(out, ']');
  out_close(out, '}');
}

// ---- growth

static void verdict_write(struct json_out *out, const char *key, const struct growth *growth) {
  static const char *const words[] = {"pass", "fail", "n/a"};
  bool judged = growth->verdict != VERDICT_NONE;
  out_open(out, key, '{');
  out_text(out, "verdict", words[growth->verdict]);
  out_text(out, "why", growth->why);
  if (judged) {
    out_number(out, "slope_bytes_per_s", growth->slope_bytes_per_s, REPORT_JSON_RATE_DECIMALS);
    out_number(out, "projected_bytes", growth->projected_bytes, 0);
    out_open(out, "window", '[');
    out_number(out, NULL, growth->window.start_s, SECONDS_DECIMALS);
    out_number(out, NULL, growth->window.end_s, SECONDS_DECIMALS);
    out_close(out, ']');
  } else {
    out_null(out, "slope_bytes_per_s");
    out_null(out, "projected_bytes");
    out_null(out, "window");
  }
  out_close(out, '}');
}

static void live_write(struct json_out *out, const struct row *row) { out_count(out, "live_bytes", row->live_bytes); }
static uint64_t live_amount(const struct row *row) { return row->live_bytes; }

static void growth_write(struct json_out *out, const struct judgement *judgement) {
  out_open(out, "growth", '{');
  verdict_write(out, "cpu", &judgement->cpu);
  verdict_write(out, "device", &judgement->device);
  out_open(out, "sites", '[');
  for (size_t i = 0; i < judgement->growing.count; i++) {
    const struct row *row = &judgement->rows[judgement->growing.items[i].row];
    out_open(out, NULL, '{');
    kind_write(out, row);
    out_number(out, "bytes_per_s", judgement->growing.items[i].bytes_per_s, REPORT_JSON_RATE_DECIMALS);
    out_count(out, "live_bytes", row->live_bytes);
    shares_write(out, judgement, judgement->growing.items[i].row, live_amount, live_write);
    row_end(out, judgement, row);
    out_close(out, '}');
  }
  out_close(out, ']');
  out_close(out, '}');
}

// ---- timeline

static uint64_t cpu_bytes(const struct ht_file_sample *sample) {
  return sample->live_bytes[HT_KIND_HEAP] + sample->live_bytes[HT_KIND_MMAP] + sample->live_bytes[HT_KIND_PYTHON];
}
static uint64_t device_bytes(const struct ht_file_sample *sample) { return sample->live_bytes[HT_KIND_DEVICE]; }
static uint64_t pinned_bytes(const struct ht_file_sample *sample) { return sample->live_bytes[HT_KIND_PINNED]; }

static void column_write(struct json_out *out, const struct report *report, const char *key,
                         uint64_t (*bytes)(const struct ht_file_sample *)) {
  out_open(out, key, '[');
  for (uint32_t i = 0; i < report->sample_count; i++) out_count(out, NULL, bytes(&report->samples[i]));
  out_close(out, ']');
}

// Calls between two samples; null in a report of an older recorder.
static uint64_t allocations_of(struct ht_file_sample_calls calls) { return calls.allocations; }
static uint64_t temporaries_of(struct ht_file_sample_calls calls) { return calls.temporaries; }

static void calls_write(struct json_out *out, const struct report *report, const char *key,
                        uint64_t (*count)(struct ht_file_sample_calls)) {
  bool known = report->call_count != 0;
  out_open(out, key, '[');
  for (uint32_t i = 0; i < report->sample_count; i++)
    out_known(out, NULL, known, known ? count(sample_calls(report, i)) : 0);
  out_close(out, ']');
}

// A site's bytes at each sample: what its own timeline, which may have fewer points, held last.
static void curve_write(struct json_out *out, const struct judgement *judgement, const struct row_curve *curve) {
  const struct report *report = judgement->report;
  const struct row *row = &judgement->rows[curve->row];
  out_open(out, NULL, '{');
  json_site(out, judgement->stacks, row->stack);
  kind_write(out, row);
  out_open(out, "bytes", '[');
  for (uint32_t i = 0; i < report->sample_count; i++)
    out_count(out, NULL, (uint64_t)row_curve_bytes(curve, seconds_of(report->samples[i].at_ns)));
  out_close(out, ']');
  out_close(out, '}');
}

static void timeline_write(struct json_out *out, const struct judgement *judgement) {
  const struct report *report = judgement->report;
  out_open(out, "timeline", '{');
  out_open(out, "seconds", '[');
  for (uint32_t i = 0; i < report->sample_count; i++)
    out_number(out, NULL, seconds_of(report->samples[i].at_ns), SECONDS_DECIMALS);
  out_close(out, ']');
  column_write(out, report, "cpu", cpu_bytes);
  column_write(out, report, "device", device_bytes);
  column_write(out, report, "pinned", pinned_bytes);
  out_open(out, "rss", '[');
  for (uint32_t i = 0; i < report->sample_count; i++)
    out_known(out, NULL, report->samples[i].rss_bytes, report->samples[i].rss_bytes);
  out_close(out, ']');
  calls_write(out, report, "allocations", allocations_of);
  calls_write(out, report, "temporaries", temporaries_of);
  out_open(out, "sites", '[');
  for (size_t i = 0; i < judgement->curves.count; i++) curve_write(out, judgement, &judgement->curves.items[i]);
  out_close(out, ']');
  report_gpu_timeline_json(out, report);
  out_close(out, '}');
}

static void marks_write(struct json_out *out, const struct report *report) {
  out_open(out, "marks", '[');
  for (uint32_t i = 0; i < report->mark_count; i++) {
    const struct ht_file_mark *mark = &report->marks[i];
    out_open(out, NULL, '{');
    out_text(out, "name", mark_text(report, &report->mark_names[mark->name]));
    out_number(out, "seconds", seconds_of(mark->at_ns), SECONDS_DECIMALS);
    out_count(out, "live_bytes", mark->live_bytes);
    out_close(out, '}');
  }
  out_close(out, ']');
}

// ---- the rest

static void threads_write(struct json_out *out, const struct report *report) {
  out_open(out, "threads", '[');
  for (uint32_t i = 0; i < report->thread_count; i++) {
    const struct ht_file_thread *thread = &report->threads[i];
    out_open(out, NULL, '{');
    out_known(out, "tid", thread->tid, thread->tid);
    out_text(out, "name", thread->name ? report->strings + thread->name : NULL);
    out_count(out, "allocations", thread->allocations);
    out_close(out, '}');
  }
  out_close(out, ']');
}

// What a process shares with others in blocks of one kind with one stack.
struct shared_stack {
  uint32_t kind, stack;
  uint64_t bytes;
};

static int shared_compare(const void *left, const void *right) {
  const struct shared_stack *a = left, *b = right;
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  return a->stack < b->stack ? -1 : a->stack > b->stack;
}

// Sites that are shown with one stack are one row, as in the other lists.
static size_t shared_merge(const struct judgement *judgement, struct shared_stack *rows) {
  const struct report *report = judgement->report;
  size_t count = 0;
  for (uint32_t i = 0; i < report->shared_site_count; i++) {
    const struct ht_file_shared_site *shared = &report->shared_sites[i];
    struct shared_stack row = {report->sites[shared->site].kind, judgement->stacks->of_site[shared->site],
                               shared->bytes};
    size_t at = 0;
    while (at < count && (rows[at].kind != row.kind || rows[at].stack != row.stack)) at++;
    if (at < count)
      rows[at].bytes += row.bytes;
    else
      rows[count++] = row;
  }
  qsort(rows, count, sizeof *rows, shared_compare);
  return count;
}

static void shared_sites_write(struct json_out *out, const struct judgement *judgement) {
  struct shared_stack *rows = memory_get(judgement->report->shared_site_count, sizeof *rows);
  size_t count = shared_merge(judgement, rows);
  out_open(out, "shared_by_site", '[');
  for (size_t i = 0; i < count; i++) {
    out_open(out, NULL, '{');
    out_text(out, "kind", kind_names[rows[i].kind]);
    out_count(out, "bytes", rows[i].bytes);
    json_site(out, judgement->stacks, rows[i].stack);
    json_stack(out, judgement->stacks, rows[i].stack);
    out_close(out, '}');
  }
  out_close(out, ']');
  free(rows);
}

// Of a process that forks or was forked; null of others, and where nothing is known.
static void resident_write(struct json_out *out, const struct judgement *judgement) {
  const struct report *report = judgement->report;
  const struct ht_file_resident *figures = fork_figures(report);
  if (!figures) {
    out_null(out, "resident");
    return;
  }
  out_open(out, "resident", '{');
  out_known(out, "forked_from", figures->forked_from, figures->forked_from);
  out_count(out, "bytes", figures->resident_bytes);
  out_count(out, "anonymous_bytes", figures->anonymous_bytes);
  out_count(out, "shared_bytes", figures->shared_bytes);
  out_count(out, "counted_bytes", judgement->counted_bytes);
  shared_sites_write(out, judgement);
  out_close(out, '}');
}

static void range_write(struct json_out *out, const char *key, const struct range_sum *range) {
  out_open(out, key, '{');
  out_count(out, "sum", range->sum);
  out_count(out, "min", range->least);
  out_count(out, "max", range->most);
  out_close(out, '}');
}

static void workers_write(struct json_out *out, const struct worker_group *group) {
  if (!group) {
    out_null(out, "workers");
    return;
  }
  out_open(out, "workers", '{');
  out_count(out, "count", group->count);
  range_write(out, "peak_bytes", &group->peak);
  if (group->leaked.count)
    range_write(out, "leaked_bytes", &group->leaked);
  else
    out_null(out, "leaked_bytes");
  out_close(out, '}');
}

static void notes_write(struct json_out *out, const struct judgement *judgement) {
  out_open(out, "notes", '[');
  for (size_t i = 0; i < judgement->note_count; i++) out_text(out, NULL, judgement->notes[i]);
  out_close(out, ']');
}

void report_json(FILE *stream, const struct judgement *judgement, uint64_t top) {
  struct json_out out = {.stream = stream};
  out_open(&out, NULL, '{');
  head_write(&out, judgement);
  summary_write(&out, judgement);
  list_write(&out, judgement, &form_leaks, &judgement->leaks, UINT64_MAX);
  growth_write(&out, judgement);
  list_write(&out, judgement, &form_peak, &judgement->peak, top);
  list_write(&out, judgement, &form_hotspots, &judgement->hotspots, top);
  list_write(&out, judgement, &form_temporaries, &judgement->temporaries, top);
  sizes_write(&out, judgement->report);
  python_write(&out, judgement, top);
  arenas_write(&out, judgement);
  report_gpu_json(&out, judgement, top);
  timeline_write(&out, judgement);
  marks_write(&out, judgement->report);
  json_mark_names(&out, judgement->report);
  threads_write(&out, judgement->report);
  resident_write(&out, judgement);
  workers_write(&out, judgement->workers);
  notes_write(&out, judgement);
  out_close(&out, '}');
  fputc('\n', stream);
}

void report_json_facts(struct json_out *out, const struct judgement *judgement) {
  head_write(out, judgement);
  summary_write(out, judgement);
  out_open(out, "growth", '{');
  verdict_write(out, "cpu", &judgement->cpu);
  verdict_write(out, "device", &judgement->device);
  out_close(out, '}');
  sizes_write(out, judgement->report);
  report_gpu_json(out, judgement, UINT64_MAX);
  json_mark_names(out, judgement->report);
  threads_write(out, judgement->report);
  notes_write(out, judgement);
}
