#include "session_options.h"

#include <stdlib.h>

#include "options.h"
#include "problem.h"

// Beyond it recursion repeats itself, and every frame costs time.
#define DEPTH_DEFAULT 64
#define DEPTH_PYTHON 8

bool depth_choose(bool python, uint64_t *depth) {
  const char *value = getenv("HEAPTIDE_DEPTH");
  if (*depth) return true;
  *depth = python ? DEPTH_PYTHON : DEPTH_DEFAULT;
  if (!value || !value[0] || options_number(value, 1, DEPTH_MAX, depth)) return true;
  complain("HEAPTIDE_DEPTH: bad value '%s'; give a whole number from 1 to %d", value, DEPTH_MAX);
  return false;
}
