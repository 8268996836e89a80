#include <stdlib.h>
#include <string.h>

#include "gpu_timeline.h"
#include "memory.h"
#include "report_gpu.h"
#include "units.h"

static const char *const kind_names[] = HT_KIND_NAMES;

enum { STACK_FRAMES = 8, NAME_WIDTH = 60, TABLE_POINTS = 8 };

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

static void site_stack_print(struct text_out *out, const struct judgement *judgement, uint32_t site) {
  text_print_stack(out, judgement->stacks, judgement->stacks->of_site[site], STACK_FRAMES);
}

// ---- out of memory

uint64_t gpu_total_bytes(const struct report *report, uint32_t device) {
  for (uint32_t i = 0; i < report->gpu_device_count; i++)
    if (report->gpu_devices[i].device == device) return report->gpu_devices[i].total_bytes;
  return 0;
}

static void failure_holders_print(struct text_out *out, const struct judgement *judgement,
                                  const struct ht_file_gpu_failure *failure, uint64_t top) {
  char bytes[UNITS_TEXT], blocks[UNITS_TEXT];
  for (uint32_t i = 0; i < failure->holder_count && i < top; i++) {
    const struct ht_file_gpu_holder *holder = &judgement->report->gpu_holders[failure->first_holder + i];
    text_print(out, STYLE_PLAIN, "%12s  held in %s block%s\n", bytes_text(bytes, holder->bytes),
               count_text(blocks, holder->blocks), plural(holder->blocks));
    site_stack_print(out, judgement, holder->site);
  }
}

static void failure_print(struct text_out *out, const struct judgement *judgement,
                          const struct ht_file_gpu_failure *failure, uint64_t top) {
  char asked[UNITS_TEXT], live[UNITS_TEXT], total[UNITS_TEXT], at[UNITS_TEXT], gap[UNITS_TEXT];
  uint64_t all = gpu_total_bytes(judgement->report, failure->device);
  text_print(out, STYLE_BAD, "%12s", bytes_text(asked, failure->asked_bytes));
  text_print(out, STYLE_PLAIN, "  asked of device %u at %s; %s", failure->device,
             seconds_text(at, seconds_of(failure->at_ns)), bytes_text(live, failure->live_bytes));
  if (all) text_print(out, STYLE_PLAIN, " of %s", bytes_text(total, all));
  text_print(out, STYLE_PLAIN, " held");
  if (failure->gap_bytes)
    text_print(out, STYLE_PLAIN, ", largest gap in a pool %s", bytes_text(gap, failure->gap_bytes));
  text_print(out, STYLE_PLAIN, "\n");
  site_stack_print(out, judgement, failure->site);
  failure_holders_print(out, judgement, failure, top);
}

void report_gpu_failures(struct text_out *out, const struct judgement *judgement, uint64_t top) {
  const struct report *report = judgement->report;
  char count[UNITS_TEXT];
  if (!report->gpu || !report->gpu->failure_count) return;
  text_print(out, STYLE_PLAIN, "\n");
  text_print(out, STYLE_HEADING, "OUT OF GPU MEMORY");
  text_print(out, STYLE_PLAIN, "  %s allocation%s failed\n", count_text(count, report->gpu->failure_count),
             plural(report->gpu->failure_count));
  for (uint32_t i = 0; i < report->gpu_failure_count; i++) failure_print(out, judgement, &report->gpu_failures[i], top);
}

// ---- devices and streams

static void pool_print(struct text_out *out, const struct ht_file_gpu_device *device) {
  char pieces[UNITS_TEXT], unused[UNITS_TEXT], outside[UNITS_TEXT];
  if (!device->pool_bytes) return;
  uint64_t rest = device->live_bytes > device->pool_bytes ? device->live_bytes - device->pool_bytes : 0;
  uint64_t left = device->pool_bytes > device->piece_bytes ? device->pool_bytes - device->piece_bytes : 0;
  text_print(out, STYLE_PLAIN, "%12s  in tensors, %s reserved by the pool and unused, %s outside the framework\n",
             bytes_text(pieces, device->piece_bytes), bytes_text(unused, left), bytes_text(outside, rest));
}

static void driver_print(struct text_out *out, const struct ht_file_gpu_device *device) {
  char in_use[UNITS_TEXT], more[UNITS_TEXT], pool[UNITS_TEXT];
  if (device->in_use_bytes == HT_GPU_UNKNOWN) return;
  uint64_t live = device->in_use_live_bytes;
  uint64_t rest = device->in_use_bytes > live ? device->in_use_bytes - live : 0;
  text_print(out, STYLE_PLAIN,
             "%12s  in use by the driver when last asked (above its use before the first allocation; other processes\n"
             "               count too), %s more than the live blocks then, %s of it in HIP's pools\n",
             bytes_text(in_use, device->in_use_bytes), bytes_text(more, rest),
             bytes_text(pool, device->pool_unused_bytes));
}

static void device_print(struct text_out *out, const struct report *report, const struct ht_file_gpu_device *device) {
  char live[UNITS_TEXT], peak[UNITS_TEXT], total[UNITS_TEXT], calls[UNITS_TEXT], bytes[UNITS_TEXT];
  text_print(out, STYLE_BOLD, "%12s", bytes_text(peak, device->peak_bytes));
  text_print(out, STYLE_PLAIN, "  peak of device %u", device->device);
  if (device->name) {
    text_print(out, STYLE_PLAIN, " (");
    text_print_foreign(out, STYLE_PLAIN, report->strings + device->name, NAME_WIDTH);
    text_print(out, STYLE_PLAIN, "%s)", device->flags & HT_GPU_DEVICE_SIMULATED ? ", simulated device" : "");
  }
  if (device->total_bytes) text_print(out, STYLE_PLAIN, " of %s", bytes_text(total, device->total_bytes));
  text_print(out, STYLE_PLAIN, ", %s live, %s allocation%s\n", bytes_text(live, device->live_bytes),
             count_text(calls, device->allocations), plural(device->allocations));
  pool_print(out, device);
  driver_print(out, device);
  if (device->reserved_bytes)
    text_print(out, STYLE_PLAIN, "%12s  of addresses reserved, which is no memory\n",
               bytes_text(bytes, device->reserved_bytes));
  if (device->registered_bytes)
    text_print(out, STYLE_PLAIN, "%12s  of host memory registered\n", bytes_text(bytes, device->registered_bytes));
}

static void stream_print(struct text_out *out, const struct ht_file_gpu_stream *stream) {
  char name[STREAM_NAME_BYTES], live[UNITS_TEXT], peak[UNITS_TEXT], calls[UNITS_TEXT];
  text_print(out, STYLE_PLAIN, "%12s  peak of %s on device %u (0x%llx), %s live, %s allocation%s\n",
             bytes_text(peak, stream->peak_bytes), stream_name(name, stream), stream->device,
             (unsigned long long)stream->handle, bytes_text(live, stream->live_bytes),
             count_text(calls, stream->allocations), plural(stream->allocations));
}

// Streams that nothing was allocated on are left out.
static void streams_print(struct text_out *out, const struct report *report, const bool *shown) {
  uint64_t left = 0;
  for (uint32_t i = 0; i < report->gpu_stream_count; i++)
    if (shown[i])
      stream_print(out, &report->gpu_streams[i]);
    else
      left += report->gpu_streams[i].allocations != 0;
  if (left) text_print(out, STYLE_DIM, "  ... %llu more stream%s (--top)\n", (unsigned long long)left, plural(left));
}

// ---- sites

// What is in the pool is known when its pieces were seen.
static const char *pool_words(const struct judgement *judgement, const struct row *row) {
  if (!row->pool) return "";
  for (uint32_t i = 0; i < judgement->report->gpu_device_count; i++)
    if (judgement->report->gpu_devices[i].pool_bytes) return " in a pool, unused";
  return " in a pool";
}

static void row_print(struct text_out *out, const struct judgement *judgement, const struct row *row) {
  char peak[UNITS_TEXT], live[UNITS_TEXT], blocks[UNITS_TEXT], calls[UNITS_TEXT];
  text_print(out, STYLE_BOLD, "%12s", bytes_text(peak, row->peak_bytes));
  text_print(out, STYLE_PLAIN, "  of %s%s at the peak, %s live in %s block%s, %s allocation%s\n", kind_names[row->kind],
             pool_words(judgement, row), bytes_text(live, row->live_bytes), count_text(blocks, row->live_blocks),
             plural(row->live_blocks), count_text(calls, row->allocations), plural(row->allocations));
  text_print_stack(out, judgement->stacks, row->stack, STACK_FRAMES);
}

static void sites_print(struct text_out *out, const struct judgement *judgement, uint64_t top) {
  uint64_t count = judgement->gpu.count;
  for (size_t i = 0; i < count && i < top; i++) row_print(out, judgement, &judgement->rows[judgement->gpu.rows[i]]);
  if (top < count)
    text_print(out, STYLE_DIM, "  ... %llu more site%s (--top)\n", (unsigned long long)(count - top),
               plural(count - top));
}

// ---- tensors

static void tensor_print(struct text_out *out, const struct judgement *judgement,
                         const struct ht_file_gpu_tensor *tensor) {
  const struct report *report = judgement->report;
  char bytes[UNITS_TEXT];
  text_print(out, STYLE_BOLD, "%12s", bytes_text(bytes, tensor->bytes));
  text_print(out, STYLE_PLAIN, "  tensor (");
  text_print_foreign(out, STYLE_PLAIN, report->strings + tensor->shape, NAME_WIDTH);
  text_print(out, STYLE_PLAIN, ") ");
  text_print_foreign(out, STYLE_PLAIN, report->strings + tensor->dtype, NAME_WIDTH);
  text_print(out, STYLE_PLAIN, " on device %u\n", tensor->device);
  const struct stacks *stacks = judgement->stacks;
  if (tensor->site)
    text_print_stack(out, stacks, stack_from_python(stacks, stacks->of_site[tensor->site]), STACK_FRAMES);
  const char *text = report->strings + tensor->held;
  for (uint32_t i = 0; i < tensor->held_count; i++, text += strlen(text) + 1) {
    text_print(out, STYLE_DIM, "%s", i ? " << " : "               held by: ");
    text_print_foreign(out, STYLE_PLAIN, text, NAME_WIDTH);
  }
  if (tensor->held_count) text_print(out, STYLE_PLAIN, "\n");
}

static void tensors_print(struct text_out *out, const struct judgement *judgement, uint64_t top) {
  uint32_t count = judgement->report->gpu_tensor_count;
  for (uint32_t i = 0; i < count && i < top; i++) tensor_print(out, judgement, &judgement->report->gpu_tensors[i]);
  if (top < count)
    text_print(out, STYLE_DIM, "  ... %llu more tensor%s (--top)\n", (unsigned long long)(count - top),
               plural(count - top));
}

// ---- over time

// A curve as a sparkline and a row of the table.
static void curve_print(struct text_out *out, const char *name, const double *bytes, size_t count) {
  char text[UNITS_TEXT];
  text_print(out, STYLE_PLAIN, "  %-30s", name);
  for (size_t i = 0; i < TABLE_POINTS; i++) {
    size_t point = count > 1 ? i * (count - 1) / (TABLE_POINTS - 1) : 0;
    text_print(out, STYLE_PLAIN, " %10s", bytes_text(text, (uint64_t)bytes[point]));
  }
  text_print(out, STYLE_PLAIN, "\n");
  text_print_sparkline(out, 2, bytes, count);
}

static void times_print(struct text_out *out, const double *at_s, size_t count) {
  char text[UNITS_TEXT];
  text_print(out, STYLE_DIM, "  %-30s", "over time");
  for (size_t i = 0; i < TABLE_POINTS; i++) {
    size_t point = count > 1 ? i * (count - 1) / (TABLE_POINTS - 1) : 0;
    text_print(out, STYLE_DIM, " %10s", seconds_text(text, at_s[point]));
  }
  text_print(out, STYLE_PLAIN, "\n");
}

static char *curve_name(const struct report *report, const struct ht_file_gpu_row *row) {
  char name[STREAM_NAME_BYTES];
  if (row->kind == HT_GPU_ROW_STREAM) {
    const struct ht_file_gpu_stream *stream = &report->gpu_streams[row->index];
    return memory_format("%s, device %u", stream_name(name, stream), stream->device);
  }
  static const char *const words[] = {"", "live", "", "in use by the driver", "in HIP's pools"};
  return memory_format("device %u %s", report->gpu_devices[row->index].device, words[row->kind]);
}

static bool curve_is_flat_zero(const struct gpu_curve *curve, uint32_t points) {
  for (uint32_t i = 0; i < points; i++)
    if (curve->bytes[i] && curve->bytes[i] != HT_GPU_UNKNOWN) return false;
  return true;
}

static bool curve_is_shown(const struct gpu_curve *curve, const bool *streams, uint32_t points) {
  bool is_cut = curve->row->kind == HT_GPU_ROW_STREAM && !streams[curve->row->index];
  return !is_cut && !curve_is_flat_zero(curve, points);
}

static void gpu_curves_print(struct text_out *out, const struct report *report, const bool *streams) {
  uint32_t points = gpu_point_count(report);
  double *values = memory_get(points + 1, sizeof *values);
  const uint64_t *at_ns =
      (const uint64_t *)((const struct ht_file_gpu_timeline *)report->file.sections[HT_SECTION_GPU_TIMELINE].data + 1);
  for (uint32_t i = 0; i < points; i++) values[i] = seconds_of(at_ns[i]);
  times_print(out, values, points);
  for (uint32_t i = 0; i < gpu_curve_count(report); i++) {
    struct gpu_curve curve = gpu_curve_at(report, i);
    if (!curve_is_shown(&curve, streams, points)) continue;
    for (uint32_t k = 0; k < points; k++) values[k] = curve.bytes[k] == HT_GPU_UNKNOWN ? 0 : (double)curve.bytes[k];
    char *name = curve_name(report, curve.row);
    curve_print(out, name, values, points);
    free(name);
  }
  free(values);
}

static void site_curves_print(struct text_out *out, const struct judgement *judgement, uint64_t top) {
  uint64_t shown = 0;
  const struct curve_points *points = judgement->report->gpu_site_timeline ? judgement->gpu_points : judgement->points;
  if (!points->count) return;
  times_print(out, points->at_s, points->count);
  for (size_t i = 0; i < judgement->curves.count && shown < top; i++) {
    const struct row_curve *curve = &judgement->curves.items[i];
    const struct row *row = &judgement->rows[curve->row];
    if (row->kind != HT_KIND_DEVICE) continue;
    curve_print(out, row->site && row->site->function ? row->site->function : "?", curve->bytes, points->count);
    shown++;
  }
}

static void over_time_print(struct text_out *out, const struct judgement *judgement, const bool *streams,
                            uint64_t top) {
  const struct report *report = judgement->report;
  if (gpu_point_count(report)) gpu_curves_print(out, report, streams);
  if (report->gpu->timeline & HT_GPU_TIMELINE_SITES) site_curves_print(out, judgement, top);
}

// ---- whole

static void late_print(struct text_out *out, const struct ht_file_gpu *gpu) {
  char bytes[UNITS_TEXT], blocks[UNITS_TEXT];
  if (gpu->late_freed_blocks)
    text_print(out, STYLE_PLAIN, "%12s  in %s block%s given back on the way out\n",
               bytes_text(bytes, gpu->late_freed_bytes), count_text(blocks, gpu->late_freed_blocks),
               plural(gpu->late_freed_blocks));
  if (gpu->late_lost_blocks)
    text_print(out, STYLE_PLAIN, "%12s  in %s block%s were to be given back after the runtime had ended\n",
               bytes_text(bytes, gpu->late_lost_bytes), count_text(blocks, gpu->late_lost_blocks),
               plural(gpu->late_lost_blocks));
}

void report_gpu_text(struct text_out *out, const struct judgement *judgement, uint64_t top) {
  const struct report *report = judgement->report;
  const struct ht_file_process *process = report->process;
  char device[UNITS_TEXT], pinned[UNITS_TEXT], managed[UNITS_TEXT];
  if (!report->gpu) return;
  text_print(out, STYLE_PLAIN, "\n");
  text_print(out, STYLE_HEADING, "GPU");
  text_print(out, STYLE_PLAIN, "  %s live on the device, %s pinned, %s managed\n",
             bytes_text(device, process->kinds[HT_KIND_DEVICE].live_bytes),
             bytes_text(pinned, process->kinds[HT_KIND_PINNED].live_bytes),
             bytes_text(managed, process->kinds[HT_KIND_MANAGED].live_bytes));
  for (uint32_t i = 0; i < report->gpu_device_count; i++) device_print(out, report, &report->gpu_devices[i]);
  bool *streams = gpu_streams_shown(report, top);
  streams_print(out, report, streams);
  late_print(out, report->gpu);
  tensors_print(out, judgement, top);
  sites_print(out, judgement, top);
  over_time_print(out, judgement, streams, top);
  free(streams);
}
