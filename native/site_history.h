// What the larger sites held over time: points in time, each with the sites that were worth a row then.
// Bounded in points and in rows; when either is full every second point goes and points come half as often.
// Pure data; whoever calls makes sure that nobody else does (sampler.c: LOCK_RANK_SAMPLE).
#ifndef HT_SITE_HISTORY_H
#define HT_SITE_HISTORY_H

#include "words.h"

#define HISTORY_POINTS 48            // even
#define HISTORY_ROWS (64u * 1024)    // 1 MiB, touched as it fills
#define HISTORY_SITE_MIN_BYTES 4096u // smaller sites are not noted,
#define HISTORY_SITE_MIN_SHARE 4096u // nor those below this part of all live bytes

struct history_point {
  uint64_t at_ns;
  uint32_t first_row; // its rows end where the next point's begin; sites ascending
};
struct history_row {
  uint32_t site;
  uint32_t reserved;
  uint64_t live_bytes;
};

struct site_history {
  uint64_t period_ns; // the least time between points
  uint32_t point_count, row_count;
  struct history_point points[HISTORY_POINTS];
  struct history_row rows[HISTORY_ROWS];
};

void history_start(struct site_history *history, uint64_t period_ns);

// Begins a point, later than all others. Its rows follow by history_add, in ascending order of sites.
void history_point(struct site_history *history, uint64_t at_ns);
// A row of the last point. What does not fit although everything was thinned is left out.
void history_add(struct site_history *history, site_id site, uint64_t live_bytes);
// Makes the last point a second time, at a later time: nothing changed in between.
void history_repeat(struct site_history *history, uint64_t at_ns);

HT_INLINE uint32_t history_rows_end(const struct site_history *history, uint32_t point) {
  return point + 1 < history->point_count ? history->points[point + 1].first_row : history->row_count;
}

#endif
