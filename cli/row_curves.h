// Rows over time. Where device memory of each site was followed (--gpu-timeline sites), those curves have the GPU's
// points, which are all there; the others those of the sites' timeline, which are as many as its walks could afford.
#ifndef HT_ROW_CURVES_H
#define HT_ROW_CURVES_H

#include <stddef.h>
#include <stdint.h>

#include "model.h"

struct curve_points {
  double *at_s; // rising
  size_t count;
};

struct row_curve {
  uint32_t row;
  const struct curve_points *points;
  double *bytes; // at each of the points
};

struct row_curves {
  struct row_curve *items;
  size_t count;
};

// Of a timeline; NULL: none. New memory.
struct curve_points *curve_points_make(const struct ht_file_site_timeline *timeline);
void curve_points_free(struct curve_points *points);

// The curves of the rows that the report's sites belong to, those that held most first. The points have to stay.
struct row_curves row_curves_make(const struct report *report, const struct curve_points *points,
                                  const struct curve_points *gpu_points, const uint32_t *row_of_site, size_t row_count);
void row_curves_free(struct row_curves *curves);

// What a curve held last at a time; 0 before its first point.
double row_curve_bytes(const struct row_curve *curve, double at_s);

#endif
