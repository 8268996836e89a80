// Chrome's trace format, which Perfetto (ui.perfetto.dev) and chrome://tracing open: memory over time as counter
// tracks, one for each kind, the resident memory, and the sites whose own timeline was kept, calls as counters
// and the program's marks as instants. Source: "Trace Event
// Format" of the Chromium project (catapult/docs/trace-event-format.md): C are counters, X is a span, i an instant, M
// names a process; `ts` and `dur` are microseconds.
#include <stdlib.h>

#include "export.h"
#include "gpu_timeline.h"
#include "holders.h"
#include "json_out.h"
#include "marks.h"
#include "memory.h"
#include "program_name.h"

static const char *const kind_names[] = HT_KIND_NAMES;

enum { TRACE_THREAD = 0, US_DECIMALS = 3, SITES_MAX = 100 };

struct chrome {
  struct json_out out;
  const struct judgement *judgement;
  double start_us; // of the process, after the first one's
};

static void event_open(struct chrome *chrome, const char *phase, const char *name, double at_us) {
  out_open(&chrome->out, NULL, '{');
  out_text(&chrome->out, "ph", phase);
  out_text(&chrome->out, "name", name);
  out_count(&chrome->out, "pid", chrome->judgement->report->process->pid);
  out_count(&chrome->out, "tid", TRACE_THREAD);
  out_number(&chrome->out, "ts", at_us, US_DECIMALS);
}

static void counter_write_of(struct chrome *chrome, const char *name, uint64_t at_ns, const char *what,
                             uint64_t value) {
  event_open(chrome, "C", name, chrome->start_us + (double)at_ns / 1e3);
  out_text(&chrome->out, "cat", "memory");
  out_open(&chrome->out, "args", '{');
  out_count(&chrome->out, what, value);
  out_close(&chrome->out, '}');
  out_close(&chrome->out, '}');
}

static void counter_write(struct chrome *chrome, const char *name, uint64_t at_ns, uint64_t bytes) {
  counter_write_of(chrome, name, at_ns, "bytes", bytes);
}

// The process by its name, and as a span as long as it ran.
static void process_write(struct chrome *chrome) {
  const struct report *report = chrome->judgement->report;
  char name[PROGRAM_NAME_BYTES];
  program_name_of(report, name);
  event_open(chrome, "M", "process_name", 0);
  out_open(&chrome->out, "args", '{');
  out_text(&chrome->out, "name", name);
  out_close(&chrome->out, '}');
  out_close(&chrome->out, '}');
  event_open(chrome, "X", name, chrome->start_us);
  out_number(&chrome->out, "dur", (double)report->process->duration_ns / 1e3, US_DECIMALS);
  out_close(&chrome->out, '}');
}

// A kind without memory at any time has no track.
static void kind_write(struct chrome *chrome, int kind) {
  const struct report *report = chrome->judgement->report;
  if (!report->process->kinds[kind].allocations) return;
  for (uint32_t i = 0; i < report->sample_count; i++)
    counter_write(chrome, kind_names[kind], report->samples[i].at_ns, report->samples[i].live_bytes[kind]);
}

static void rss_write(struct chrome *chrome) {
  const struct report *report = chrome->judgement->report;
  for (uint32_t i = 0; i < report->sample_count; i++)
    if (report->samples[i].rss_bytes)
      counter_write(chrome, "rss", report->samples[i].at_ns, report->samples[i].rss_bytes);
}

// A counter's value holds until its next one: what was called from one sample to the next stands at the first of them.
static void calls_write(struct chrome *chrome) {
  const struct report *report = chrome->judgement->report;
  for (uint32_t i = 0; i < report->call_count; i++) {
    uint64_t from_ns = i ? report->samples[i - 1].at_ns : 0;
    struct ht_file_sample_calls calls = sample_calls(report, i);
    if (i == 0 && !calls.allocations) continue; // at the start, where sample 1 begins too
    counter_write_of(chrome, "allocations", from_ns, "calls", calls.allocations);
    counter_write_of(chrome, "temporaries", from_ns, "calls", calls.temporaries);
  }
}

static void marks_write(struct chrome *chrome) {
  const struct report *report = chrome->judgement->report;
  for (uint32_t i = 0; i < report->mark_count; i++) {
    const struct ht_file_mark *mark = &report->marks[i];
    const char *name = mark_text(report, &report->mark_names[mark->name]);
    event_open(chrome, "i", name, chrome->start_us + (double)mark->at_ns / 1e3);
    out_text(&chrome->out, "cat", "mark");
    out_text(&chrome->out, "s", "p"); // of the whole process
    out_open(&chrome->out, "args", '{');
    out_count(&chrome->out, "live_bytes", mark->live_bytes);
    out_close(&chrome->out, '}');
    out_close(&chrome->out, '}');
  }
}

// Tracks are told apart by their names: a site's stands with its number among the sites.
static void site_write(struct chrome *chrome, size_t number) {
  const struct row_curve *curve = &chrome->judgement->curves.items[number];
  const struct row *row = &chrome->judgement->rows[curve->row];
  char *words = row->site ? frame_words(row->site) : memory_format("[unknown]");
  char *name = memory_format("site %zu: %s, %s", number + 1, words, kind_names[row->kind]);
  for (size_t i = 0; i < curve->points->count; i++)
    counter_write(chrome, name, (uint64_t)(curve->points->at_s[i] * 1e9), (uint64_t)curve->bytes[i]);
  free(name);
  free(words);
}

// "device 0, stream 3", "device 0, in use by its driver"; new memory.
static char *gpu_track_name(const struct report *report, const struct ht_file_gpu_row *row) {
  static const char *const what[] = {[HT_GPU_ROW_DEVICE] = "live",
                                     [HT_GPU_ROW_IN_USE] = "in use by its driver",
                                     [HT_GPU_ROW_POOL_UNUSED] = "pools, unused"};
  char name[STREAM_NAME_BYTES];
  if (row->kind != HT_GPU_ROW_STREAM)
    return memory_format("device %u, %s", report->gpu_devices[row->index].device, what[row->kind]);
  const struct ht_file_gpu_stream *stream = &report->gpu_streams[row->index];
  return memory_format("device %u, %s", stream->device, stream_name(name, stream));
}

static void gpu_write(struct chrome *chrome, uint32_t number) {
  const struct report *report = chrome->judgement->report;
  struct gpu_curve curve = gpu_curve_at(report, number);
  char *name = gpu_track_name(report, curve.row);
  for (uint32_t i = 0; i < gpu_point_count(report); i++)
    counter_write(chrome, name, gpu_points_at_ns(report)[i], curve.bytes[i]);
  free(name);
}

bool export_chrome(FILE *stream, const struct report_set *set, const char *what) {
  (void)what; // a timeline knows what was live, and nothing else
  struct chrome chrome = {.out = {.stream = stream}};
  uint64_t first_ns = UINT64_MAX;
  for (size_t i = 0; i < set->count; i++)
    if (set->reports[i].process->started_unix_ns < first_ns) first_ns = set->reports[i].process->started_unix_ns;
  out_open(&chrome.out, NULL, '{');
  out_text(&chrome.out, "displayTimeUnit", "ms");
  out_open(&chrome.out, "traceEvents", '[');
  for (size_t i = 0; i < set->count; i++) {
    chrome.judgement = &set->judgements[i];
    chrome.start_us = (double)(set->reports[i].process->started_unix_ns - first_ns) / 1e3;
    process_write(&chrome);
    for (int kind = 0; kind < HT_KIND_COUNT; kind++) kind_write(&chrome, kind);
    rss_write(&chrome);
    calls_write(&chrome);
    marks_write(&chrome);
    for (uint32_t k = 0; k < gpu_curve_count(&set->reports[i]); k++) gpu_write(&chrome, k);
    for (size_t k = 0; k < chrome.judgement->curves.count && k < SITES_MAX; k++) site_write(&chrome, k);
  }
  out_close(&chrome.out, ']');
  char *recorded = export_recorded_words(set, set->count);
  out_open(&chrome.out, "otherData", '{');
  out_text(&chrome.out, "recorded", recorded);
  out_close(&chrome.out, '}');
  free(recorded);
  out_close(&chrome.out, '}');
  fputc('\n', stream);
  return true;
}
