// Why something could not be done, and how the user is told: `heaptide: WHAT: WHY; what to do`.
#ifndef HT_PROBLEM_H
#define HT_PROBLEM_H

#include <stdbool.h>

struct problem {
  char why[256];
  char todo[256];
};

// Fills `problem` (both texts are cut at their size) and returns false, for `return problem_set(...)`.
// `todo` is plain text, `why_format` is printf's.
bool problem_set(struct problem *problem, const char *todo, const char *why_format, ...)
    __attribute__((format(printf, 3, 4)));

// One line `heaptide: ...` on stderr, in one write.
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

// One line on stderr. Control characters in the texts are shown as `?`, so that it stays one line.
void problem_print(const char *what, const char *why, const char *todo);

#endif
