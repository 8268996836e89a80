// sources: native/timeline.c native/site_history.c
// Thinning and gap filling: whatever was dropped, a sample lies at its own time and says what was live then.
#include "../../native/site_history.h"
#include "../../native/timeline.h"
#include "expect.h"

#include <stdio.h>
#include <string.h>

static struct timeline timeline;
static struct site_history history;

static void fill(uint64_t now_ns, uint64_t heap_bytes) {
  struct timeline_values values = {.live_bytes = {[HT_KIND_HEAP] = heap_bytes}};
  timeline_fill(&timeline, now_ns, &values);
}

static uint64_t heap_at(uint32_t sample) { return timeline.samples[sample].live_bytes[HT_KIND_HEAP]; }

static void test_gap_gets_what_held_throughout(void) {
  timeline_start(&timeline, 100);
  fill(0, 1);
  fill(99, 2); // nothing is due
  EXPECT(timeline.count == 1 && timeline_due_ns(&timeline) == 100);
  fill(100, 3);
  fill(550, 4);
  EXPECT(timeline.count == 6);
  EXPECT(heap_at(0) == 1 && heap_at(1) == 3 && heap_at(2) == 4 && heap_at(5) == 4);
  EXPECT(timeline_due_ns(&timeline) == 600);
}

// Live bytes equal to the time: every sample that is left must still be right.
static void test_thinning_keeps_samples_at_their_times(void) {
  timeline_start(&timeline, 10);
  for (uint64_t now_ns = 0; now_ns <= 10ull * 5 * TIMELINE_SAMPLES; now_ns += 10) fill(now_ns, now_ns);
  EXPECT(timeline.period_ns == 80);
  EXPECT(timeline.count > TIMELINE_SAMPLES / 2 && timeline.count <= TIMELINE_SAMPLES);
  EXPECT(timeline.count == 10ull * 5 * TIMELINE_SAMPLES / 80 + 1);
  for (uint32_t i = 0; i < timeline.count; i++) EXPECT(heap_at(i) == i * timeline.period_ns);
}

static void test_a_gap_of_a_year_ends(void) {
  const uint64_t year_ns = 365ull * 24 * 3600 * 1000000000;
  timeline_start(&timeline, 1000000);
  fill(0, 7);
  fill(year_ns, 8);
  EXPECT(heap_at(0) == 7 && heap_at(1) == 8 && heap_at(timeline.count - 1) == 8);
  EXPECT(timeline_due_ns(&timeline) > year_ns && timeline_due_ns(&timeline) <= year_ns + timeline.period_ns);
}

static void point(uint64_t at_ns, uint32_t site_count) {
  history_point(&history, at_ns);
  for (uint32_t site = 1; site <= site_count; site++) history_add(&history, (site_id){site}, at_ns * 1000 + site);
}

static void expect_points_whole(uint32_t site_count) {
  for (uint32_t i = 0; i < history.point_count; i++) {
    const struct history_point *at = &history.points[i];
    EXPECT(history_rows_end(&history, i) - at->first_row == site_count);
    for (uint32_t row = 0; row < site_count; row++) {
      EXPECT(history.rows[at->first_row + row].site == row + 1);
      EXPECT(history.rows[at->first_row + row].live_bytes == at->at_ns * 1000 + row + 1);
    }
    EXPECT(i == 0 || history.points[i - 1].at_ns < at->at_ns);
  }
}

static void test_history_thins_when_points_run_out(void) {
  history_start(&history, 5);
  for (uint32_t i = 0; i < 10 * HISTORY_POINTS; i++) point(i, 3);
  EXPECT(history.point_count > HISTORY_POINTS / 2 && history.point_count <= HISTORY_POINTS);
  EXPECT(history.points[0].at_ns == 0 && history.points[history.point_count - 1].at_ns == 10 * HISTORY_POINTS - 1);
  EXPECT(history.period_ns > 5);
  expect_points_whole(3);
}

static void test_history_thins_when_rows_run_out(void) {
  const uint32_t sites = HISTORY_ROWS / 10;
  history_start(&history, 5);
  for (uint32_t i = 0; i < HISTORY_POINTS; i++) point(i, sites);
  EXPECT(history.row_count <= HISTORY_ROWS && history.point_count >= 3 && history.point_count <= 10);
  EXPECT(history.points[history.point_count - 1].at_ns == HISTORY_POINTS - 1);
  expect_points_whole(sites);
}

static void test_history_repeats_a_point(void) {
  history_start(&history, 5);
  point(1, 2);
  history_repeat(&history, 9);
  EXPECT(history.point_count == 2 && history.row_count == 4 && history.points[1].at_ns == 9);
  EXPECT(history.rows[2].site == 1 && history.rows[2].live_bytes == 1001 && history.rows[3].site == 2);
}

int main(void) {
  test_gap_gets_what_held_throughout();
  test_thinning_keeps_samples_at_their_times();
  test_a_gap_of_a_year_ends();
  test_history_thins_when_points_run_out();
  test_history_thins_when_rows_run_out();
  test_history_repeats_a_point();
  return failures != 0;
}
