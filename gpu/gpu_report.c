#include "gpu_report.h"

#include <string.h>

#include "../native/lock.h"
#include "../native/report.h"
#include "../native/report_holders.h"
#include "../native/report_tables.h"
#include "../native/sampler.h"
#include "account.h"
#include "driver_use.h"
#include "gpu_timeline.h"
#include "hip_library.h"
#include "memory_failure.h"
#include "site_use.h"
#include "streams.h"

#define SECTIONS 7 // from HT_SECTION_GPU to HT_SECTION_GPU_TENSORS; a timeline of sites is one more

static uint32_t timeline_parts;
static const char *simulated_name;

static bool gpu_was_used(void) {
  bool used = gpu_stream_count || memory_failure_count;
  for (int i = 0; i < GPU_DEVICES_MAX && !used; i++) used = gpu_devices[i].used;
  return used;
}

void gpu_report_prepare(void) { simulated_name = gpu_was_used() ? hip_simulated_name() : NULL; }

static uint32_t failures_kept(void) {
  return memory_failure_count < FAILURES_MAX ? (uint32_t)memory_failure_count : FAILURES_MAX;
}

static void failures_want(struct report_tables *tables) {
  for (uint32_t i = 0; i < failures_kept(); i++) {
    tables_want(tables, memory_failures[i].site);
    for (uint32_t k = 0; k < memory_failures[i].holder_count; k++)
      tables_want(tables, memory_failures[i].holders[k].site);
  }
}

// What the front end of another language says of tensors holds for the report that it was asked for.
static const struct held_tensor *tensors_now(bool running, uint32_t *count) {
  if (!running) return holders_tensors(count);
  *count = 0;
  return NULL;
}

static uint32_t begin(struct report_tables *tables, bool running) {
  uint32_t count;
  const struct held_tensor *tensors = tensors_now(running, &count);
  failures_want(tables);
  for (uint32_t i = 0; i < count; i++) tables_want(tables, tensors[i].site);
  for (uint32_t i = 0; i < gpu_site_count; i++) tables_want(tables, gpu_sites[i].site);
  return gpu_was_used() ? SECTIONS + gpu_timeline_has_sites() : 0;
}

static void facts_write(struct writer *writer) {
  struct ht_file_gpu row = {.timeline = timeline_parts,
                            .late_freed_bytes = gpu_late_frees.bytes,
                            .late_freed_blocks = gpu_late_frees.blocks,
                            .late_lost_bytes = gpu_late_lost.bytes,
                            .late_lost_blocks = gpu_late_lost.blocks,
                            .failure_count = memory_failure_count};
  writer_section(writer, HT_SECTION_GPU);
  writer_add(writer, &row, sizeof row);
  writer_section_end(writer);
}

// ---- devices and streams. In the file they are numbered without the devices that were not used.

static uint32_t device_place[GPU_DEVICES_MAX];

static bool device_is_known(uint32_t index) {
  if (gpu_devices[index].used) return true;
  for (uint32_t i = 0; i < gpu_stream_count; i++)
    if (gpu_streams[i].device == index) return true;
  for (uint32_t i = 0; i < failures_kept(); i++)
    if (memory_failures[i].device == index) return true;
  return false;
}

static void device_write(struct report_tables *tables, uint32_t index, struct writer *writer) {
  const struct gpu_device *device = &gpu_devices[index];
  const char *name = simulated_name ? simulated_name : device->name;
  struct ht_file_gpu_device row = {.device = index,
                                   .name = tables_string(tables, name),
                                   .flags = simulated_name ? HT_GPU_DEVICE_SIMULATED : 0,
                                   .live_bytes = device->use.live_bytes,
                                   .peak_bytes = device->use.peak_bytes,
                                   .allocations = device->use.allocations,
                                   .total_bytes = device->total_bytes,
                                   .reserved_bytes = device->reserved_bytes,
                                   .registered_bytes = device->registered_bytes,
                                   .pool_bytes = device->pool_bytes,
                                   .piece_bytes = device->piece_bytes,
                                   .in_use_bytes = driver_in_use_bytes((uint8_t)index),
                                   .in_use_live_bytes = driver_in_use_live_bytes((uint8_t)index),
                                   .pool_unused_bytes = driver_pool_unused_bytes((uint8_t)index)};
  writer_add(writer, &row, sizeof row);
}

static void devices_write(struct report_tables *tables, struct writer *writer) {
  uint32_t place = 0;
  writer_section(writer, HT_SECTION_GPU_DEVICES);
  for (uint32_t i = 0; i < GPU_DEVICES_MAX; i++) {
    if (!device_is_known(i)) continue;
    device_place[i] = place++;
    device_write(tables, i, writer);
  }
  writer_section_end(writer);
}

static void streams_write(struct writer *writer) {
  writer_section(writer, HT_SECTION_GPU_STREAMS);
  for (uint32_t i = 0; i < gpu_stream_count; i++) {
    const struct gpu_stream *stream = &gpu_streams[i];
    struct ht_file_gpu_stream row = {.device = stream->device,
                                     .number = stream->number,
                                     .handle = stream->handle,
                                     .live_bytes = stream->use.live_bytes,
                                     .peak_bytes = stream->use.peak_bytes,
                                     .allocations = stream->use.allocations};
    writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
}

// ---- over time

// The last point is at the recording's end, as in its other timelines, whatever it took since then to come here.
static uint32_t points_before(uint64_t end_ns) {
  uint32_t points = gpu_timeline_points();
  while (points && gpu_timeline_at_ns(points - 1) >= end_ns) points--;
  return points;
}

static void points_write(struct writer *writer, uint32_t points, uint64_t end_ns) {
  for (uint32_t point = 0; point < points; point++) {
    uint64_t at_ns = gpu_timeline_at_ns(point);
    writer_add(writer, &at_ns, sizeof at_ns);
  }
  writer_add(writer, &end_ns, sizeof end_ns);
}

static void timeline_write_rows(struct writer *writer, uint64_t end_ns) {
  uint32_t points = points_before(end_ns);
  struct ht_file_gpu_timeline header = {points + 1, gpu_timeline_series_count()};
  writer_add(writer, &header, sizeof header);
  points_write(writer, points, end_ns);
  for (uint32_t i = 0; i < header.row_count; i++) {
    const struct gpu_series *series = gpu_timeline_series(i);
    bool of_stream = series->kind == HT_GPU_ROW_STREAM;
    struct ht_file_gpu_row row = {series->kind, of_stream ? series->index : device_place[series->index]};
    writer_add(writer, &row, sizeof row);
    writer_add(writer, series->bytes, points * sizeof series->bytes[0]);
    uint64_t bytes_now = gpu_series_now(series);
    writer_add(writer, &bytes_now, sizeof bytes_now);
  }
}

static void timeline_write_section(struct writer *writer, uint64_t end_ns) {
  writer_section(writer, HT_SECTION_GPU_TIMELINE);
  if (gpu_timeline_points()) timeline_write_rows(writer, end_ns);
  writer_section_end(writer);
}

// A site that came while a checkpoint was begun has no number in it.
static uint32_t site_number(const struct report_tables *tables, uint32_t index) {
  return tables_site(tables, gpu_sites[index].site);
}

static void site_timeline_write_rows(struct report_tables *tables, struct writer *writer, uint64_t end_ns) {
  uint32_t points = points_before(end_ns);
  struct ht_file_site_timeline header = {points + 1, 0};
  for (uint32_t i = 0; i < gpu_site_count; i++) header.row_count += site_number(tables, i) != 0;
  writer_add(writer, &header, sizeof header);
  points_write(writer, points, end_ns);
  for (uint32_t i = 0; i < gpu_site_count; i++) {
    struct ht_file_site_row row = {site_number(tables, i), 0};
    if (!row.site) continue;
    writer_add(writer, &row, sizeof row);
    writer_add(writer, gpu_timeline_site(i), points * sizeof(uint64_t));
    writer_add(writer, &gpu_sites[i].live_bytes, sizeof gpu_sites[i].live_bytes);
  }
}

static void site_timeline_write_section(struct report_tables *tables, struct writer *writer, uint64_t end_ns) {
  if (!gpu_timeline_has_sites()) return;
  writer_section(writer, HT_SECTION_GPU_SITE_TIMELINE);
  site_timeline_write_rows(tables, writer, end_ns);
  writer_section_end(writer);
}

// ---- failures

static void failures_write(struct report_tables *tables, struct writer *writer) {
  uint32_t first = 0;
  writer_section(writer, HT_SECTION_GPU_FAILURES);
  for (uint32_t i = 0; i < failures_kept(); i++) {
    const struct memory_failure *failure = &memory_failures[i];
    struct ht_file_gpu_failure row = {.site = tables_site(tables, failure->site),
                                      .device = failure->device,
                                      .first_holder = first,
                                      .holder_count = failure->holder_count,
                                      .at_ns = failure->at_ns,
                                      .asked_bytes = failure->asked_bytes,
                                      .live_bytes = failure->live_bytes,
                                      .gap_bytes = failure->gap_bytes};
    first += failure->holder_count;
    writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
}

static void failure_holders_write(struct report_tables *tables, struct writer *writer) {
  writer_section(writer, HT_SECTION_GPU_FAILURE_HOLDERS);
  for (uint32_t i = 0; i < failures_kept(); i++)
    for (uint32_t k = 0; k < memory_failures[i].holder_count; k++) {
      const struct failure_holder *holder = &memory_failures[i].holders[k];
      struct ht_file_gpu_holder row = {tables_site(tables, holder->site), 0, holder->bytes, holder->blocks};
      writer_add(writer, &row, sizeof row);
    }
  writer_section_end(writer);
}

// ---- tensors

static uint32_t texts_write(struct report_tables *tables, const char *const *texts, uint32_t count) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = (uint32_t)buffer_append(&tables->strings, texts[i], strlen(texts[i]) + 1);
    if (i == 0) first = at;
  }
  return first;
}

static void tensor_write(struct report_tables *tables, const struct held_tensor *tensor, struct writer *writer) {
  struct ht_file_gpu_tensor row = {.device = tensor->device,
                                   .dtype = tensor->dtype ? tables_string(tables, tensor->dtype) : 0,
                                   .shape = tables_string(tables, tensor->shape),
                                   .site = tables_site(tables, tensor->site),
                                   .held = texts_write(tables, tensor->texts, tensor->text_count),
                                   .held_count = tensor->text_count,
                                   .bytes = tensor->bytes};
  writer_add(writer, &row, sizeof row);
}

static void tensors_write(struct report_tables *tables, struct writer *writer, bool running) {
  uint32_t count;
  const struct held_tensor *tensors = tensors_now(running, &count);
  writer_section(writer, HT_SECTION_GPU_TENSORS);
  for (uint32_t i = 0; i < count; i++) tensor_write(tables, &tensors[i], writer);
  writer_section_end(writer);
}

static void write_all(struct report_tables *tables, struct writer *writer, uint64_t end_ns, bool running) {
  facts_write(writer);
  devices_write(tables, writer);
  streams_write(writer);
  timeline_write_section(writer, end_ns);
  site_timeline_write_section(tables, writer, end_ns);
  failures_write(tables, writer);
  failure_holders_write(tables, writer);
  tensors_write(tables, writer, running);
}

// Parked threads are in nobody's way, and one that crashed inside heaptide may have the lock.
static void write(struct report_tables *tables, struct writer *writer, uint64_t end_ns, bool running) {
  if (running) lock_take(thread_front_lock());
  write_all(tables, writer, end_ns, running);
  if (running) lock_drop(thread_front_lock());
}

static const struct report_sections sections = {begin, write};

void gpu_report_init(unsigned timeline) {
  timeline_parts = timeline;
  report_sections_set(&sections);
}
