#include "site_history.h"

#include <string.h>

void history_start(struct site_history *history, uint64_t period_ns) {
  history->period_ns = period_ns;
  history->point_count = history->row_count = 0;
}

// Keeps the points 0, 2, 4, ... and, when there is one being filled, the last.
static void history_thin(struct site_history *history, bool filling) {
  uint32_t kept_points = 0, kept_rows = 0, count = history->point_count;
  for (uint32_t i = 0; i < count; i++) {
    bool last = filling && i + 1 == count;
    if (i % 2 != 0 && !last) continue;
    uint32_t first = history->points[i].first_row, rows = history_rows_end(history, i) - first;
    memmove(&history->rows[kept_rows], &history->rows[first], rows * sizeof *history->rows);
    history->points[kept_points++] = (struct history_point){history->points[i].at_ns, kept_rows};
    kept_rows += rows;
  }
  history->point_count = kept_points;
  history->row_count = kept_rows;
  history->period_ns *= 2;
}

void history_point(struct site_history *history, uint64_t at_ns) {
  if (history->point_count == HISTORY_POINTS) history_thin(history, false);
  history->points[history->point_count++] = (struct history_point){at_ns, history->row_count};
}

void history_add(struct site_history *history, site_id site, uint64_t live_bytes) {
  while (history->row_count == HISTORY_ROWS) {
    if (history->point_count <= 2) return;
    history_thin(history, true);
  }
  history->rows[history->row_count++] = (struct history_row){site.value, 0, live_bytes};
}

void history_repeat(struct site_history *history, uint64_t at_ns) {
  uint32_t source = history->point_count - 1;
  uint32_t rows = history->row_count - history->points[source].first_row;
  // Thinning may move the rows; a point that would need it is not worth a copy.
  if (history->point_count == HISTORY_POINTS || history->row_count + rows > HISTORY_ROWS) return;
  memcpy(&history->rows[history->row_count], &history->rows[history->points[source].first_row],
         rows * sizeof *history->rows);
  history->points[history->point_count++] = (struct history_point){at_ns, history->row_count};
  history->row_count += rows;
}
