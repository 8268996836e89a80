#include "pattern.h"

#include <string.h>

static bool starts(const char *text, const char *part, size_t part_bytes) {
  return strncmp(text, part, part_bytes) == 0;
}

bool pattern_matches(const char *pattern, const char *text) {
  bool at_start = *pattern == '^';
  pattern += at_start;
  size_t length = strlen(pattern);
  bool at_end = length && pattern[length - 1] == '$';
  const char *end = pattern + length - at_end;
  while (true) { // one part between wildcards a round, each found as far left as possible
    size_t part = 0;
    while (pattern + part < end && pattern[part] != '*') part++;
    bool last = pattern + part == end;
    if (last && at_end) {
      size_t rest = strlen(text);
      return rest >= part && starts(text + rest - part, pattern, part) && (!at_start || rest == part);
    }
    while (!starts(text, pattern, part)) {
      if (at_start || !*text) return false;
      text++;
    }
    if (last) return true;
    text += part;
    pattern += part + 1;
    at_start = false;
  }
}
