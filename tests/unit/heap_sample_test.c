// sources: native/heap_sample.c
// What a recorded block stands for, and how often one is recorded, against the C library's exp().
#include "../../native/heap_sample.h"
#include "../../native/site.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>

struct site *site_table;
uint32_t site_inherited;
static struct thread thread;

static double met_share(size_t size_bytes, uint64_t sample_bytes) {
  return -expm1(-(double)(size_bytes + HEAP_SAMPLE_HEADER_BYTES) / (double)sample_bytes);
}

static const uint64_t samples[] = {1, 17, 100, 1000, 4096, 524288, 10000000, UINT32_MAX};
#define SAMPLES (sizeof samples / sizeof *samples)

// Right above a whole number the last bits may decide otherwise.
static void test_weights(void) {
  for (size_t i = 0; i < SAMPLES; i++) {
    heap_sample_init(samples[i]);
    for (size_t size_bytes = 0; size_bytes < samples[i] && size_bytes < 3000000; size_bytes += 1 + size_bytes / 7) {
      double exact = 1 / met_share(size_bytes, samples[i]), weight = heap_sample_weight(size_bytes);
      if (size_bytes + HEAP_SAMPLE_HEADER_BYTES >= samples[i]) exact = 1;
      EXPECT(weight >= exact * 0.9999 && weight < exact * 1.0001 + 1);
    }
    EXPECT(heap_sample_weight(samples[i]) == 1 && heap_sample_weight((size_t)1 << 40) == 1);
  }
}

// Of `rounds` blocks one in `weight` is recorded; six standard deviations either way.
static void chance_check(size_t size_bytes, uint64_t sample_bytes, uint32_t rounds) {
  heap_sample_init(sample_bytes);
  double weight = heap_sample_weight(size_bytes), recorded = 0;
  for (uint32_t i = 0; i < rounds; i++) recorded += !heap_sample_skips(&thread, size_bytes);
  double expected = rounds / weight, deviation = sqrt(expected * (1 - 1 / weight));
  if (fabs(recorded - expected) <= 6 * deviation) return;
  fprintf(stderr, "%zu bytes of %lu: %g recorded, %g expected\n", size_bytes, sample_bytes, recorded, expected);
  failures++;
}

static void test_chances(void) {
  static const size_t sizes[] = {0, 1, 50, 84, 500, 700, 900, 983, 984, 5000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) chance_check(sizes[i], 1000, 2000000);
  chance_check(64, 524288, 20000000);
  chance_check(300000, 524288, 2000000);
}

// Blocks of different sizes share one countdown.
static void test_mixed_sizes(void) {
  static const size_t sizes[] = {8, 24, 600, 120, 16, 16, 350, 3000};
  enum { SIZES = sizeof sizes / sizeof *sizes, ROUNDS = 1000000 };
  double estimate[SIZES] = {0};
  heap_sample_init(1000);
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < SIZES; i++)
      if (!heap_sample_skips(&thread, sizes[i])) estimate[i] += heap_sample_weight(sizes[i]);
  for (int i = 0; i < SIZES; i++)
    EXPECT(fabs(estimate[i] - ROUNDS) <= 6 * sqrt(ROUNDS * (heap_sample_weight(sizes[i]) - 1.0)));
}

// The first block of a thread has no better chance than any other.
static void test_first_block(void) {
  enum { THREADS = 200000 };
  double recorded = 0;
  heap_sample_init(1000);
  for (int i = 0; i < THREADS; i++) {
    thread = (struct thread){.tid = (uint32_t)i};
    recorded += !heap_sample_skips(&thread, 84);
  }
  EXPECT(fabs(recorded - THREADS / 11.0) <= 6 * sqrt(THREADS / 11.0)); // 1 / (1 - exp(-0.1)) is 10.5
}

int main(void) {
  test_weights();
  test_chances();
  test_mixed_sizes();
  test_first_block();
  return failures != 0;
}
