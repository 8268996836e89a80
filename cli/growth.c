#include "growth.h"

#include <stdio.h>

#include "units.h"

// The rule's numbers.
#define SETUP_SHARE 0.2      // of the run is setup
#define STEP_SHARE 0.025     // later windows start by so much later
#define LAST_START_SHARE 0.5 // up to here
#define RISE_BYTES 65536.0   // less is no growth
#define RISE_SHARE 0.05      // of the mean
#define NOISE_DEVIATIONS 4.0 // a rise of an estimate within so many standard deviations is chance
enum { SAMPLES_MIN = 8 };
// Two samples make a line, but prove nothing: a window needs three to be judged.
enum { WINDOW_SAMPLES_MIN = 3 };

struct fit {
  size_t count;
  double slope, mean; // bytes per second, bytes
  double first, last; // bytes
};

static struct fit fit_make(const struct growth_curve *curve, struct growth_window window) {
  struct fit fit = {0};
  double sum_s = 0, sum_bytes = 0, products = 0, squares = 0;
  size_t begin = 0;
  while (begin < curve->count && curve->at_s[begin] < window.start_s) begin++;
  for (size_t i = begin; i < curve->count; i++) {
    sum_s += curve->at_s[i];
    sum_bytes += curve->bytes[i];
  }
  fit.count = curve->count - begin;
  if (fit.count == 0) return fit;
  double mean_s = sum_s / (double)fit.count;
  fit.mean = sum_bytes / (double)fit.count;
  for (size_t i = begin; i < curve->count; i++) { // around the means: exact enough for large byte counts
    double off_s = curve->at_s[i] - mean_s;
    products += off_s * (curve->bytes[i] - fit.mean);
    squares += off_s * off_s;
  }
  fit.slope = squares > 0 ? products / squares : 0;
  fit.first = curve->bytes[begin];
  fit.last = curve->bytes[curve->count - 1];
  return fit;
}

struct growth_window growth_first_window(double run_s) {
  return (struct growth_window){SETUP_SHARE * run_s, run_s};
}

// Bytes estimated from a sample of one in N vary by sqrt(bytes * N), and a rise is the difference of two such figures.
static bool is_chance(double rise, double mean, double sample_bytes) {
  return rise * rise < NOISE_DEVIATIONS * NOISE_DEVIATIONS * 2 * mean * sample_bytes;
}

static bool is_growth(double rise, double mean, struct growth_limit limit) {
  return limit.given ? rise > limit.bytes : rise > RISE_BYTES && rise > RISE_SHARE * mean;
}

static struct growth none(const char *why) {
  struct growth growth = {.verdict = VERDICT_NONE};
  snprintf(growth.why, sizeof growth.why, "%s", why);
  return growth;
}

// Tells the rise of a window as numbers.
static void why_write(struct growth *growth, double mean) {
  char rise[UNITS_TEXT], middle[UNITS_TEXT], start[80] = "";
  bytes_text(rise, growth->projected_bytes < 0 ? 0 : (uint64_t)growth->projected_bytes);
  bytes_text(middle, mean < 0 ? 0 : (uint64_t)mean);
  if (growth->window.start_s > growth_first_window(growth->window.end_s).start_s)
    snprintf(start, sizeof start, ", window from %.2f s", growth->window.start_s);
  if (growth->projected_bytes > 0)
    snprintf(growth->why, sizeof growth->why, "rises by %s around a mean of %s%s", rise, middle, start);
  else
    snprintf(growth->why, sizeof growth->why, "does not rise around a mean of %s%s", middle, start);
}

static struct growth window_judge(const struct growth_curve *curve, struct growth_window window, double span_s,
                                  struct growth_limit limit) {
  struct fit fit = fit_make(curve, window);
  struct growth growth = {.slope_bytes_per_s = fit.slope, .projected_bytes = fit.slope * span_s, .window = window};
  bool judged = fit.count >= WINDOW_SAMPLES_MIN;
  bool grows = is_growth(growth.projected_bytes, fit.mean, limit) &&
               !is_chance(growth.projected_bytes, fit.mean, curve->sample_bytes);
  growth.verdict = judged && !grows ? VERDICT_PASS : VERDICT_FAIL;
  why_write(&growth, fit.mean);
  return growth;
}

struct growth growth_judge(const struct growth_curve *curve, double run_s, struct growth_limit limit) {
  char why[80];
  snprintf(why, sizeof why, "only %zu samples, at least %d are needed", curve->count, SAMPLES_MIN);
  if (curve->count < SAMPLES_MIN) return none(why);
  struct growth_window window = growth_first_window(run_s);
  double span_s = window.end_s - window.start_s;
  if (fit_make(curve, window).count < WINDOW_SAMPLES_MIN)
    return none("too few samples after the first fifth of the run");
  struct growth first = window_judge(curve, window, span_s, limit);
  int steps = (int)((LAST_START_SHARE - SETUP_SHARE) / STEP_SHARE + 0.5);
  for (int step = 1; first.verdict == VERDICT_FAIL && step <= steps; step++) {
    window.start_s = (SETUP_SHARE + step * STEP_SHARE) * run_s;
    struct growth later = window_judge(curve, window, span_s, limit);
    if (later.verdict == VERDICT_PASS) return later;
  }
  return first;
}

bool growth_rise(const struct growth_curve *curve, struct growth_window window, double *bytes_per_s) {
  struct fit fit = fit_make(curve, window);
  *bytes_per_s = fit.slope;
  return fit.count >= 2 && fit.last > fit.first && fit.slope > 0;
}
