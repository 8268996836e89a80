#include "timeline.h"

void timeline_start(struct timeline *timeline, uint64_t period_ns) {
  timeline->period_ns = period_ns;
  timeline->count = 0;
}

// Sample 2i lies where sample i of the doubled period belongs.
static void timeline_thin(struct timeline *timeline) {
  timeline->count /= 2;
  timeline->period_ns *= 2;
  for (uint32_t i = 1; i < timeline->count; i++) timeline->samples[i] = timeline->samples[2 * i];
}

void timeline_fill(struct timeline *timeline, uint64_t now_ns, const struct timeline_values *values) {
  while (timeline_due_ns(timeline) <= now_ns) {
    if (timeline->count == TIMELINE_SAMPLES)
      timeline_thin(timeline);
    else
      timeline->samples[timeline->count++] = *values;
  }
}
