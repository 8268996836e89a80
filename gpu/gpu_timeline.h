// GPU memory over time, on an even grid: point i holds what was live i periods after the start. Bounded: when the table
// is full, every second point goes and the period doubles.
#ifndef HT_GPU_TIMELINE_H
#define HT_GPU_TIMELINE_H

#include "../native/timeline.h"
#include "streams.h"

#define GPU_POINTS 512u // even
// Streams that are followed: those that came first to allocate. Devices all are, each with up to three series; beside
// them GPU_SITES_MAX sites: 18 MiB when all are used and the table is full.
#define GPU_STREAMS_FOLLOWED 256u
#define GPU_SERIES (GPU_STREAMS_FOLLOWED + 3 * GPU_DEVICES_MAX)

struct gpu_series {
  uint8_t kind;   // enum ht_gpu_row_kind
  uint32_t index; // in gpu_devices or gpu_streams
  uint64_t bytes[GPU_POINTS];
};

// `timeline`: HT_GPU_TIMELINE_*. False: no memory, nothing is followed.
bool gpu_timeline_init(uint32_t timeline, uint64_t period_ns);

// Fills the points that are due with what is live now, and tells the process's own timeline, which then agrees with
// them; sampler_on_sample.
void gpu_timeline_watch(uint64_t now_ns, struct timeline_values *values);

// For the report, the threads parked.
uint32_t gpu_timeline_points(void);
uint64_t gpu_timeline_at_ns(uint32_t point);
uint32_t gpu_timeline_series_count(void);
const struct gpu_series *gpu_timeline_series(uint32_t index);
// Of gpu_sites[index], at each point.
bool gpu_timeline_has_sites(void);
const uint64_t *gpu_timeline_site(uint32_t index);
uint64_t gpu_series_now(const struct gpu_series *series); // for the last point, at the report's moment

void gpu_timeline_fork_child(void);

#endif
