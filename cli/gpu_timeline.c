#include "gpu_timeline.h"

#include <stdio.h>
#include <stdlib.h>

#include "memory.h"

static const struct ht_file_gpu_timeline *header_of(const struct report *report) {
  const struct section *section = &report->file.sections[HT_SECTION_GPU_TIMELINE];
  return section->bytes ? section->data : NULL;
}

const uint64_t *gpu_points_at_ns(const struct report *report) { return (const uint64_t *)(header_of(report) + 1); }

static uint64_t row_bytes(const struct ht_file_gpu_timeline *header) {
  return sizeof(struct ht_file_gpu_row) + header->point_count * sizeof(uint64_t);
}

uint32_t gpu_curve_count(const struct report *report) {
  const struct ht_file_gpu_timeline *header = header_of(report);
  return header ? header->row_count : 0;
}

uint32_t gpu_point_count(const struct report *report) {
  const struct ht_file_gpu_timeline *header = header_of(report);
  return header ? header->point_count : 0;
}

struct gpu_curve gpu_curve_at(const struct report *report, uint32_t index) {
  const struct ht_file_gpu_timeline *header = header_of(report);
  const char *rows = (const char *)(gpu_points_at_ns(report) + header->point_count);
  const struct ht_file_gpu_row *row = (const struct ht_file_gpu_row *)(rows + index * row_bytes(header));
  return (struct gpu_curve){row, (const uint64_t *)(row + 1)};
}

uint64_t gpu_curve_bytes(const struct report *report, const struct gpu_curve *curve, uint64_t at_ns) {
  const uint64_t *points = gpu_points_at_ns(report);
  uint32_t low = 0, high = gpu_point_count(report);
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (points[middle] <= at_ns)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? curve->bytes[low - 1] : 0;
}

char *stream_name(char text[STREAM_NAME_BYTES], const struct ht_file_gpu_stream *stream) {
  if (stream->number == 0)
    snprintf(text, STREAM_NAME_BYTES, "default");
  else if (stream->number == UINT32_MAX)
    snprintf(text, STREAM_NAME_BYTES, "per thread");
  else
    snprintf(text, STREAM_NAME_BYTES, "stream %u", stream->number);
  return text;
}

static bool row_good(const struct report *report, const struct ht_file_gpu_row *row) {
  if (row->kind == HT_GPU_ROW_STREAM) return row->index < report->gpu_stream_count;
  return row->kind >= HT_GPU_ROW_DEVICE && row->kind <= HT_GPU_ROW_POOL_UNUSED && row->index < report->gpu_device_count;
}

bool gpu_timeline_good(const struct report *report) {
  uint64_t bytes = report->file.sections[HT_SECTION_GPU_TIMELINE].bytes;
  const struct ht_file_gpu_timeline *header = header_of(report);
  if (!header) return true;
  if (bytes < sizeof *header) return false;
  uint64_t room = bytes - sizeof *header, points = header->point_count * sizeof(uint64_t);
  if (points > room || header->row_count > (room - points) / row_bytes(header)) return false;
  for (uint32_t i = 0; i < header->row_count; i++)
    if (!row_good(report, gpu_curve_at(report, i).row)) return false;
  return true;
}

struct stream_rank {
  uint64_t peak_bytes;
  uint32_t index;
};

static int rank_compare(const void *left, const void *right) {
  const struct stream_rank *one = left, *other = right;
  if (one->peak_bytes != other->peak_bytes) return one->peak_bytes < other->peak_bytes ? 1 : -1;
  return one->index < other->index ? -1 : 1;
}

bool *gpu_streams_shown(const struct report *report, uint64_t top) {
  struct stream_rank *ranks = memory_get(report->gpu_stream_count, sizeof *ranks);
  bool *shown = memory_get(report->gpu_stream_count, sizeof *shown);
  size_t count = 0;
  for (uint32_t i = 0; i < report->gpu_stream_count; i++)
    if (report->gpu_streams[i].allocations) ranks[count++] = (struct stream_rank){report->gpu_streams[i].peak_bytes, i};
  qsort(ranks, count, sizeof *ranks, rank_compare);
  for (size_t i = 0; i < count && i < top; i++) shown[ranks[i].index] = true;
  free(ranks);
  return shown;
}
