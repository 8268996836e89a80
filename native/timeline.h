// Live bytes and calls over time, on an even grid: sample i holds what was i periods after the start. Bounded: when the
// table is full, every second sample goes and the period doubles.
// Pure data; whoever calls makes sure that nobody else does (sampler.c: LOCK_RANK_SAMPLE).
#ifndef HT_TIMELINE_H
#define HT_TIMELINE_H

#include "words.h"

#define TIMELINE_SAMPLES 4096 // even; 288 KiB when full, touched as it fills

struct timeline_values {
  uint64_t live_bytes[HT_KIND_COUNT];
  uint64_t rss_bytes;                // 0: not read
  uint64_t allocations, temporaries; // since the start, all kinds together
};

struct timeline {
  uint64_t period_ns;
  uint32_t count;
  struct timeline_values samples[TIMELINE_SAMPLES];
};

// Empty, with the given period (over 0). Sample 0, at the start, is due at once.
void timeline_start(struct timeline *timeline, uint64_t period_ns);

// When the next sample is due, in ns after the start.
HT_INLINE uint64_t timeline_due_ns(const struct timeline *timeline) { return timeline->count * timeline->period_ns; }

// Gives every sample that is due until `now_ns` the same values: live bytes only change in hooks, so what a hook
// finds before it changes anything has held since the last one.
void timeline_fill(struct timeline *timeline, uint64_t now_ns, const struct timeline_values *values);

#endif
