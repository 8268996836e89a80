// GROWTH: does live memory keep rising after setup? Least squares over the samples after the first 20 % of the run;
// what rises only at first (a cache that fills) passes in a later window.
#ifndef HT_GROWTH_H
#define HT_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_NONE };

struct growth_window {
  double start_s, end_s;
};

// A curve: bytes at seconds, count of them, seconds rising.
struct growth_curve {
  const double *at_s;
  const double *bytes;
  size_t count;
  double sample_bytes; // of a curve that is estimated from one byte in so many (--sample); 0: exact
};

struct growth {
  enum verdict verdict;
  char why[160];
  double slope_bytes_per_s, projected_bytes; // of the window
  struct growth_window window;               // the one that decided
};

// What the default rule is replaced by: a rise of over `bytes`, whatever the mean.
struct growth_limit {
  bool given;
  double bytes;
};

struct growth growth_judge(const struct growth_curve *curve, double run_s, struct growth_limit limit);

// Bytes per second of the curve in the window by least squares; false: less than two samples are there, or the last is
// not over the first.
bool growth_rise(const struct growth_curve *curve, struct growth_window window, double *bytes_per_s);

// The window that growth_judge looks at first.
struct growth_window growth_first_window(double run_s);

#endif
