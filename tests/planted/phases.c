// Holds other memory in each third of its run, for the ranges of the page (tests/test_page_range.py). Prints for each
// phase its name, the bytes live in it, and its begin and end in seconds after the start of main.
//   base    100 KiB, all the time
//   first   1 MiB more
//   second  2 MiB and 64 KiB of mapping more, first's gone
#include "planted.h"
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { KIB = 1024, PHASE_US = 400000 };
static void *base, *first, *second, *mapping;
static double began;

static double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void phase_hold(const char *name, size_t live_bytes) {
  double start = now_seconds() - began;
  usleep(PHASE_US);
  fprintf(stderr, "phase %s %zu %.6f %.6f\n", name, live_bytes, start, now_seconds() - began);
}

static __attribute__((noinline)) void *first_make(void) {
  return malloc(1024 * KIB); // @first
}

static __attribute__((noinline)) void *second_make(void) {
  return malloc(2048 * KIB); // @second
}

int main(void) {
  began = now_seconds();
  setvbuf(stderr, NULL, _IONBF, 0); // no buffer that would be live too
  base = malloc(100 * KIB);         // @base
  phase_hold("base", 100 * KIB);
  first = first_make();
  phase_hold("first", 1124 * KIB);
  free(first);
  second = second_make();
  mapping = mmap(NULL, 64 * KIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // @mapping
  phase_hold("second", (2148 + 64) * KIB);
  return 0;
}
