// Holds memory along a given curve for SECONDS (argv[2]), for test_growth.py:
//   flat      5 MiB from the start
//   rising    5 MiB, then 10 MiB more, evenly over the run
//   slight    50 KiB more over the run, on 100 KiB: above 5 %, below 64 KiB
//   wide      100 MiB, then 3 MiB more over the run: above 64 KiB, below 5 %
//   setup     10 MiB over the first tenth of the run, then flat
//   fill      10 MiB over the first 40 % of the run, then flat: a cache that fills
//   sawtooth  up by 1 MiB and down again, twenty times
//   mmap      as rising, in mappings
//   hidden    one site grows by 10 MiB while another gives 10 MiB back: the total is flat
#include "planted.h"
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 100, KIB = 1024, MIB = 1024 * KIB };
static void *base, *held[STEPS], *given[STEPS];

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static __attribute__((noinline)) void *grow(size_t bytes) {
  return malloc(bytes); // @grow
}

static void *map(size_t bytes) {
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // @map
}

static void step_do(const char *curve, int step) {
  if (!strcmp(curve, "rising"))
    held[step] = grow(10 * MIB / STEPS);
  else if (!strcmp(curve, "slight"))
    held[step] = grow(50 * KIB / STEPS);
  else if (!strcmp(curve, "wide"))
    held[step] = grow(3 * MIB / STEPS);
  else if (!strcmp(curve, "setup") && step < 10)
    held[step] = grow(MIB);
  else if (!strcmp(curve, "fill") && step < 40)
    held[step] = grow(MIB / 4);
  else if (!strcmp(curve, "mmap"))
    held[step] = map(100 * KIB);
  else if (!strcmp(curve, "hidden"))
    held[step] = grow(10 * MIB / STEPS), free(given[step]);
  else if (!strcmp(curve, "sawtooth")) {
    if (step % 5 == 4)
      for (int i = step - 4; i < step; i++) free(held[i]), held[i] = NULL;
    else
      held[step] = grow(MIB / 4);
  }
}

static void setup(const char *curve) {
  if (!strcmp(curve, "hidden"))
    for (int i = 0; i < STEPS; i++) given[i] = malloc(10 * MIB / STEPS);
  else
    base = malloc(!strcmp(curve, "slight") ? 100 * KIB : !strcmp(curve, "wide") ? 100 * MIB : 5 * MIB);
}

int main(int count, char **words) {
  if (count != 3) return 2;
  double began = now_seconds(), span = atof(words[2]);
  setup(words[1]);
  for (int step = 0; step < STEPS; step++) {
    double ahead = began + span * (step + 1) / STEPS - now_seconds();
    step_do(words[1], step);
    if (ahead > 0) usleep((unsigned)(ahead * 1e6));
  }
  return 0;
}
