#include "gpu_timeline.h"

#include "../native/lock.h"
#include "../native/report.h"
#include "../native/sys.h"
#include "../native/thread.h"
#include "driver_use.h"
#include "site_use.h"

// Under the sampler's lock. Series come in the order in which their devices and streams were seen first.
static struct gpu_series *series;
static uint64_t (*site_points)[GPU_POINTS]; // by gpu_sites; NULL: sites are not followed
static uint32_t series_count, point_count, parts;
static uint64_t period_ns, first_period_ns;
static uint32_t streams_followed;
static bool stream_is_followed[GPU_STREAMS_MAX];
static uint64_t devices_followed; // a bit each

bool gpu_timeline_init(uint32_t timeline, uint64_t period) {
  parts = timeline;
  period_ns = first_period_ns = period;
  point_count = 1; // at the start nothing is live
  series = sys_map(GPU_SERIES * sizeof *series);
  if (series && (parts & HT_GPU_TIMELINE_SITES) && site_use_init())
    site_points = sys_map(GPU_SITES_MAX * sizeof *site_points);
  return series != NULL;
}

static void series_add(uint8_t kind, uint32_t index) {
  series[series_count].kind = kind;
  series[series_count++].index = index;
}

static const char note_more_streams[] =
    "more than 256 streams of GPUs were used: those beyond are not followed over time";

// Frameworks make more streams than they use, all of them at first.
static void streams_find(void) {
  for (uint32_t i = 0; i < gpu_stream_count; i++) {
    if (stream_is_followed[i] || !gpu_streams[i].use.allocations) continue;
    if (streams_followed == GPU_STREAMS_FOLLOWED) return report_note_add(note_more_streams);
    stream_is_followed[i] = true;
    streams_followed++;
    series_add(HT_GPU_ROW_STREAM, i);
  }
}

static void series_find(void) {
  for (uint32_t i = 0; i < GPU_DEVICES_MAX; i++) {
    if (!gpu_devices[i].used || devices_followed >> i & 1) continue;
    devices_followed |= 1ull << i;
    series_add(HT_GPU_ROW_DEVICE, i);
    if (!(parts & HT_GPU_TIMELINE_FRAG)) continue;
    series_add(HT_GPU_ROW_IN_USE, i);
    series_add(HT_GPU_ROW_POOL_UNUSED, i);
  }
  if (parts & HT_GPU_TIMELINE_STREAMS) streams_find();
}

uint64_t gpu_series_now(const struct gpu_series *one) {
  switch (one->kind) {
  case HT_GPU_ROW_DEVICE:
    return gpu_devices[one->index].use.live_bytes;
  case HT_GPU_ROW_STREAM:
    return gpu_streams[one->index].use.live_bytes;
  case HT_GPU_ROW_IN_USE:
    return driver_in_use_bytes((uint8_t)one->index);
  default:
    return driver_pool_unused_bytes((uint8_t)one->index);
  }
}

// Point 2i lies where point i of the doubled period belongs.
static void series_thin(uint64_t bytes[GPU_POINTS]) {
  for (uint32_t point = 1; point < point_count; point++) bytes[point] = bytes[2 * point];
  for (uint32_t point = point_count; point < GPU_POINTS; point++) bytes[point] = 0;
}

static void points_thin(void) {
  point_count /= 2;
  period_ns *= 2;
  for (uint32_t i = 0; i < series_count; i++) series_thin(series[i].bytes);
  for (uint32_t i = 0; site_points && i < gpu_site_count; i++) series_thin(site_points[i]);
}

static void points_fill(uint64_t now_ns) {
  while (point_count * period_ns <= now_ns) {
    if (point_count == GPU_POINTS) {
      points_thin();
      continue;
    }
    for (uint32_t i = 0; i < series_count; i++) series[i].bytes[point_count] = gpu_series_now(&series[i]);
    for (uint32_t i = 0; site_points && i < gpu_site_count; i++) site_points[i][point_count] = gpu_sites[i].live_bytes;
    point_count++;
  }
}

#define LOCK_TRIES 1000

// A sample that is left out gets the values of the next one, which may be another stream's by then. Whoever holds the
// lock is done within microseconds of its own time; only a thread that crashed with it in its hand never is.
static bool front_lock_take(void) {
  for (int i = 0; i < LOCK_TRIES; i++) {
    if (lock_try(thread_front_lock())) return true;
    sys_call0(SYS_sched_yield);
  }
  return false;
}

static uint64_t devices_live_bytes(void) {
  uint64_t live_bytes = 0;
  for (uint32_t i = 0; i < GPU_DEVICES_MAX; i++) live_bytes += gpu_devices[i].use.live_bytes;
  return live_bytes;
}

void gpu_timeline_watch(uint64_t now_ns, struct timeline_values *values) {
  if (!front_lock_take()) return;
  series_find();
  points_fill(now_ns);
  values->live_bytes[HT_KIND_DEVICE] = devices_live_bytes();
  lock_drop(thread_front_lock());
}

uint32_t gpu_timeline_points(void) { return series ? point_count : 0; }
uint64_t gpu_timeline_at_ns(uint32_t point) { return point * period_ns; }
uint32_t gpu_timeline_series_count(void) { return series_count; }
const struct gpu_series *gpu_timeline_series(uint32_t index) { return &series[index]; }
bool gpu_timeline_has_sites(void) { return site_points != NULL; }
const uint64_t *gpu_timeline_site(uint32_t index) { return site_points[index]; }

void gpu_timeline_fork_child(void) {
  if (!series) return;
  __builtin_memset(series, 0, GPU_SERIES * sizeof *series);
  if (site_points) __builtin_memset(site_points, 0, gpu_site_count * sizeof *site_points);
  __builtin_memset(stream_is_followed, 0, sizeof stream_is_followed);
  series_count = streams_followed = 0;
  point_count = 1;
  devices_followed = 0;
  period_ns = first_period_ns;
  report_note_forget(note_more_streams);
}
