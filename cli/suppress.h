// Suppressions: which leaks are known and not to be counted. LeakSanitizer's and heaptrack's syntax:
// `leak:PATTERN` a line, `#` comments; a line without `leak:` is a pattern too.
#ifndef HT_SUPPRESS_H
#define HT_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problem.h"

struct suppression {
  char *pattern;
  char *origin;           // FILE:LINE, or what a built-in one is about
  uint64_t bytes, blocks; // of the leaks that it matched
};

struct suppressions {
  struct suppression *items;
  size_t count, capacity;
};

void suppressions_add_builtin(struct suppressions *suppressions);

// Adds those of a file. False: `problem` says why.
bool suppressions_read(struct suppressions *suppressions, const char *path, struct problem *problem);

// The first one that matches one of the texts (NULL: unknown), -1: none does.
int suppressions_match(const struct suppressions *suppressions, const char *function, const char *file,
                       const char *module);

// Prints them to stdout as a file that can be read again, each with what it matched.
void suppressions_print(const struct suppressions *suppressions);

void suppressions_free(struct suppressions *suppressions);

#endif
