#include "row_curves.h"

#include <stdlib.h>

#include "memory.h"
#include "units.h"

struct curve_points *curve_points_make(const struct ht_file_site_timeline *timeline) {
  struct curve_points *points = memory_get(1, sizeof *points);
  if (!timeline) return points;
  points->count = timeline->point_count;
  points->at_s = memory_get(points->count, sizeof *points->at_s);
  for (size_t i = 0; i < points->count; i++) points->at_s[i] = seconds_of(site_timeline_at_ns(timeline)[i]);
  return points;
}

void curve_points_free(struct curve_points *points) {
  if (points) free(points->at_s);
  free(points);
}

// While curves are made.
struct making {
  const struct report *report;
  struct row_curves curves;
  uint32_t *number; // by row, of its curve, counted from 1; 0: none yet
  const uint32_t *row_of_site;
};

static struct row_curve *curve_of_row(struct making *making, uint32_t row, const struct curve_points *points) {
  if (!making->number[row]) {
    making->number[row] = (uint32_t)++making->curves.count;
    double *bytes = memory_get(points->count, sizeof *bytes);
    making->curves.items[making->number[row] - 1] = (struct row_curve){row, points, bytes};
  }
  return &making->curves.items[making->number[row] - 1];
}

static uint32_t row_count_of(const struct ht_file_site_timeline *timeline) {
  return timeline ? timeline->row_count : 0;
}

static void timeline_add(struct making *making, const struct ht_file_site_timeline *timeline,
                         const struct curve_points *points, bool leaves_device) {
  for (uint32_t k = 0; k < row_count_of(timeline); k++) {
    const struct ht_file_site_row *from = site_timeline_row(timeline, k);
    if (leaves_device && making->report->sites[from->site].kind == HT_KIND_DEVICE) continue;
    struct row_curve *curve = curve_of_row(making, making->row_of_site[from->site], points);
    for (size_t i = 0; i < points->count; i++) curve->bytes[i] += (double)site_timeline_bytes(from)[i];
  }
}

static double most_bytes(const struct row_curve *curve) {
  double most = 0;
  for (size_t i = 0; i < curve->points->count; i++) most = curve->bytes[i] > most ? curve->bytes[i] : most;
  return most;
}

static int curve_compare(const void *left, const void *right) {
  const struct row_curve *a = left, *b = right;
  double most_a = most_bytes(a), most_b = most_bytes(b);
  if (most_a != most_b) return most_a > most_b ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

struct row_curves row_curves_make(const struct report *report, const struct curve_points *points,
                                  const struct curve_points *gpu_points, const uint32_t *row_of_site,
                                  size_t row_count) {
  struct making making = {.report = report, .row_of_site = row_of_site};
  size_t most = (size_t)row_count_of(report->site_timeline) + row_count_of(report->gpu_site_timeline);
  making.curves.items = memory_get(most, sizeof *making.curves.items);
  making.number = memory_get(row_count, sizeof *making.number);
  timeline_add(&making, report->site_timeline, points, report->gpu_site_timeline != NULL);
  timeline_add(&making, report->gpu_site_timeline, gpu_points, false);
  free(making.number);
  if (making.curves.count) qsort(making.curves.items, making.curves.count, sizeof *making.curves.items, curve_compare);
  return making.curves;
}

void row_curves_free(struct row_curves *curves) {
  for (size_t i = 0; i < curves->count; i++) free(curves->items[i].bytes);
  free(curves->items);
}

double row_curve_bytes(const struct row_curve *curve, double at_s) {
  size_t low = 0, high = curve->points->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (curve->points->at_s[middle] <= at_s)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? curve->bytes[low - 1] : 0;
}
