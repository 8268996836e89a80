// The GPU's curves of a report, and the names of its streams.
#ifndef HT_GPU_TIMELINE_READ_H
#define HT_GPU_TIMELINE_READ_H

#include "model.h"

struct gpu_curve {
  const struct ht_file_gpu_row *row;
  const uint64_t *bytes; // at each point
};

uint32_t gpu_curve_count(const struct report *report);
struct gpu_curve gpu_curve_at(const struct report *report, uint32_t index);
uint32_t gpu_point_count(const struct report *report);
const uint64_t *gpu_points_at_ns(const struct report *report); // that many; there has to be a timeline
// What the curve held last at `at_ns`.
uint64_t gpu_curve_bytes(const struct report *report, const struct gpu_curve *curve, uint64_t at_ns);

#define STREAM_NAME_BYTES 32
// "default", "per thread", "stream 3".
char *stream_name(char text[STREAM_NAME_BYTES], const struct ht_file_gpu_stream *stream);

// Which streams a list of `top` shows, by their index: of those that were allocated on the ones with the highest peaks.
// The caller's to free.
bool *gpu_streams_shown(const struct report *report, uint64_t top);

// Whether the section's rows fit into it and point into devices and streams.
bool gpu_timeline_good(const struct report *report);

#endif
