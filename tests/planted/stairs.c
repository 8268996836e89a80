// Changes what it holds step by step, each step by one call, and then does nothing for some periods of samples: up and
// down, blocks and mappings, a realloc, a free with no call after it. A mark at each step is named after the bytes that
// are live from then on: all, and those of each site (test_page_range.py reads them).
#include "planted.h"
#include <heaptide.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

enum { KIB = 1024, HOLD_MS = 120 };

static size_t first_bytes, second_bytes, mapped_bytes;

static void step_end(void) {
  char name[120];
  snprintf(name, sizeof name, "%zu first_make %zu second_make %zu map_make %zu",
           first_bytes + second_bytes + mapped_bytes, first_bytes, second_bytes, mapped_bytes);
  heaptide_mark(name);
  struct timespec hold = {0, HOLD_MS * 1000000L};
  nanosleep(&hold, NULL);
}

static __attribute__((noinline)) void *first_make(size_t bytes) {
  void *block = malloc(bytes);
  first_bytes += bytes;
  return block;
}

static __attribute__((noinline)) void *second_make(void *old, size_t bytes) {
  void *block = realloc(old, bytes);
  second_bytes = bytes;
  return block;
}

static __attribute__((noinline)) void *map_make(size_t bytes) {
  void *mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mapped_bytes = bytes;
  return mapping;
}

int main(void) {
  step_end();
  void *first = first_make(1024 * KIB);
  step_end();
  void *second = second_make(NULL, 600 * KIB);
  step_end();
  free(first);
  first_bytes = 0;
  step_end();
  void *mapping = map_make(2048 * KIB);
  step_end();
  second = second_make(second, 1700 * KIB);
  step_end();
  munmap(mapping, 2048 * KIB);
  mapped_bytes = 0;
  step_end();
  first = first_make(512 * KIB);
  step_end();
  free(second);
  second_bytes = 0;
  step_end();
  free(first);
  first_bytes = 0;
  step_end();
  return 0;
}
