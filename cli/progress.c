#include "progress.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int64_t first_ms, last_ms;
static bool shown;

void progress_show(const char *what, size_t done, size_t total) {
  struct timespec now;
  if (done % 64 != 0 && !shown) return;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  int64_t now_ms = now.tv_sec * 1000ll + now.tv_nsec / 1000000;
  if (!first_ms) first_ms = now_ms;
  if (now_ms - first_ms < 1000 || now_ms - last_ms < 100 || !isatty(STDERR_FILENO)) return;
  last_ms = now_ms;
  shown = true;
  fprintf(stderr, "\r\033[Kheaptide: %s, %zu of %zu", what, done, total);
}

void progress_clear(void) {
  if (shown) fputs("\r\033[K", stderr);
  shown = false;
  first_ms = 0;
}
