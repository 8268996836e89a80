#include <stdlib.h>
#include <string.h>

#include "gpu_timeline.h"
#include "json_frames.h"
#include "report_gpu.h"
#include "units.h"

static void known_write(struct json_out *out, const char *key, uint64_t bytes) {
  if (bytes == HT_GPU_UNKNOWN)
    out_null(out, key);
  else
    out_count(out, key, bytes);
}

static void devices_write(struct json_out *out, const struct report *report) {
  out_open(out, "devices", '[');
  for (uint32_t i = 0; i < report->gpu_device_count; i++) {
    const struct ht_file_gpu_device *device = &report->gpu_devices[i];
    out_open(out, NULL, '{');
    out_count(out, "device", device->device);
    out_text(out, "name", device->name ? report->strings + device->name : NULL);
    out_count(out, "peak_bytes", device->peak_bytes);
    out_count(out, "live_bytes", device->live_bytes);
    out_close(out, '}');
  }
  out_close(out, ']');
}

static void stream_identity_write(struct json_out *out, const struct ht_file_gpu_stream *stream) {
  char name[STREAM_NAME_BYTES], handle[24];
  snprintf(handle, sizeof handle, "0x%llx", (unsigned long long)stream->handle);
  out_count(out, "device", stream->device);
  out_text(out, "stream", handle);
  out_text(out, "name", stream_name(name, stream));
}

static void streams_write(struct json_out *out, const struct report *report, uint64_t top) {
  bool *shown = gpu_streams_shown(report, top);
  out_open(out, "streams", '[');
  for (uint32_t i = 0; i < report->gpu_stream_count; i++) {
    const struct ht_file_gpu_stream *stream = &report->gpu_streams[i];
    if (!shown[i]) continue;
    out_open(out, NULL, '{');
    stream_identity_write(out, stream);
    out_count(out, "peak_bytes", stream->peak_bytes);
    out_count(out, "live_bytes", stream->live_bytes);
    out_count(out, "allocations", stream->allocations);
    out_close(out, '}');
  }
  out_close(out, ']');
  free(shown);
}

static void shape_write(struct json_out *out, const char *shape) {
  out_open(out, "shape", '[');
  while (*shape) {
    char *end;
    unsigned long long size = strtoull(shape, &end, 10);
    if (end == shape) break;
    out_count(out, NULL, size);
    shape = *end == ',' ? end + 1 : end;
  }
  out_close(out, ']');
}

static void tensor_held_write(struct json_out *out, const struct report *report,
                              const struct ht_file_gpu_tensor *tensor) {
  if (!tensor->held_count) {
    out_null(out, "held_by");
    return;
  }
  const char *text = report->strings + tensor->held;
  out_open(out, "held_by", '[');
  for (uint32_t i = 0; i < tensor->held_count; i++, text += strlen(text) + 1) out_text(out, NULL, text);
  out_close(out, ']');
}

static void tensors_write(struct json_out *out, const struct judgement *judgement, uint64_t top) {
  const struct report *report = judgement->report;
  out_open(out, "tensors", '[');
  for (uint32_t i = 0; i < report->gpu_tensor_count && i < top; i++) {
    const struct ht_file_gpu_tensor *tensor = &report->gpu_tensors[i];
    out_open(out, NULL, '{');
    out_count(out, "bytes", tensor->bytes);
    out_count(out, "device", tensor->device);
    shape_write(out, report->strings + tensor->shape);
    out_text(out, "dtype", tensor->dtype ? report->strings + tensor->dtype : NULL);
    tensor_held_write(out, report, tensor);
    json_site(out, judgement->stacks, stack_from_python(judgement->stacks, judgement->stacks->of_site[tensor->site]));
    out_close(out, '}');
  }
  out_close(out, ']');
}

static void stack_write(struct json_out *out, const struct judgement *judgement, uint32_t site) {
  uint32_t node = judgement->stacks->of_site[site];
  json_site(out, judgement->stacks, node);
  json_stack(out, judgement->stacks, node);
}

static void failure_holders_write(struct json_out *out, const struct judgement *judgement,
                                  const struct ht_file_gpu_failure *failure) {
  out_open(out, "holders", '[');
  for (uint32_t i = 0; i < failure->holder_count; i++) {
    const struct ht_file_gpu_holder *holder = &judgement->report->gpu_holders[failure->first_holder + i];
    out_open(out, NULL, '{');
    out_count(out, "bytes", holder->bytes);
    out_count(out, "blocks", holder->blocks);
    stack_write(out, judgement, holder->site);
    out_close(out, '}');
  }
  out_close(out, ']');
}

static void failure_write(struct json_out *out, const struct judgement *judgement,
                          const struct ht_file_gpu_failure *failure) {
  uint64_t total_bytes = gpu_total_bytes(judgement->report, failure->device);
  out_open(out, NULL, '{');
  out_number(out, "seconds", seconds_of(failure->at_ns), 6);
  out_count(out, "device", failure->device);
  out_count(out, "asked_bytes", failure->asked_bytes);
  out_count(out, "live_bytes", failure->live_bytes);
  out_known(out, "total_bytes", total_bytes, total_bytes);
  out_known(out, "pool_gap_bytes", failure->gap_bytes, failure->gap_bytes);
  stack_write(out, judgement, failure->site);
  failure_holders_write(out, judgement, failure);
  out_close(out, '}');
}

// The first ones, and the last; `failed` counts them all.
static void failures_write(struct json_out *out, const struct judgement *judgement) {
  const struct report *report = judgement->report;
  out_open(out, "out_of_memory", '{');
  out_count(out, "failed", report->gpu ? report->gpu->failure_count : 0);
  out_open(out, "events", '[');
  for (uint32_t i = 0; i < report->gpu_failure_count; i++) failure_write(out, judgement, &report->gpu_failures[i]);
  out_close(out, ']');
  out_close(out, '}');
}

// Of all devices together; null unless `frag` was asked for and the driver answered.
static void fragmentation_write(struct json_out *out, const struct report *report) {
  uint64_t in_use = 0, live = 0, pools = 0;
  bool known = false;
  for (uint32_t i = 0; i < report->gpu_device_count; i++) {
    const struct ht_file_gpu_device *device = &report->gpu_devices[i];
    if (device->in_use_bytes == HT_GPU_UNKNOWN) continue;
    known = true;
    in_use += device->in_use_bytes;
    live += device->in_use_live_bytes;
    pools += device->pool_unused_bytes;
  }
  if (!known) {
    out_null(out, "fragmentation");
    return;
  }
  out_open(out, "fragmentation", '{');
  out_count(out, "in_use_bytes", in_use);
  out_count(out, "live_bytes", live);
  known_write(out, "pool_reserved_bytes", pools);
  out_close(out, '}');
}

void report_gpu_json(struct json_out *out, const struct judgement *judgement, uint64_t top) {
  const struct report *report = judgement->report;
  out_open(out, "gpu", '{');
  devices_write(out, report);
  streams_write(out, report, top);
  tensors_write(out, judgement, top);
  fragmentation_write(out, report);
  failures_write(out, judgement);
  out_close(out, '}');
}

static void curve_write(struct json_out *out, const char *key, const struct report *report,
                        const struct gpu_curve *curve) {
  out_open(out, key, '[');
  for (uint32_t i = 0; i < report->sample_count; i++)
    known_write(out, NULL, gpu_curve_bytes(report, curve, report->samples[i].at_ns));
  out_close(out, ']');
}

static void frag_write(struct json_out *out, const struct report *report) {
  out_open(out, "frag", '[');
  for (uint32_t i = 0; i < gpu_curve_count(report); i++) {
    struct gpu_curve curve = gpu_curve_at(report, i);
    if (curve.row->kind != HT_GPU_ROW_IN_USE && curve.row->kind != HT_GPU_ROW_POOL_UNUSED) continue;
    out_open(out, NULL, '{');
    out_count(out, "device", report->gpu_devices[curve.row->index].device);
    out_text(out, "what", curve.row->kind == HT_GPU_ROW_IN_USE ? "in_use" : "pool_reserved");
    curve_write(out, "bytes", report, &curve);
    out_close(out, '}');
  }
  out_close(out, ']');
}

void report_gpu_timeline_json(struct json_out *out, const struct report *report) {
  out_open(out, "streams", '[');
  for (uint32_t i = 0; i < gpu_curve_count(report); i++) {
    struct gpu_curve curve = gpu_curve_at(report, i);
    if (curve.row->kind != HT_GPU_ROW_STREAM) continue;
    out_open(out, NULL, '{');
    stream_identity_write(out, &report->gpu_streams[curve.row->index]);
    curve_write(out, "bytes", report, &curve);
    out_close(out, '}');
  }
  out_close(out, ']');
  if (report->gpu && (report->gpu->timeline & HT_GPU_TIMELINE_FRAG)) frag_write(out, report);
}
