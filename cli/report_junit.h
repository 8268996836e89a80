// Findings as JUnit XML, which GitLab, Jenkins and GitHub's actions show: a suite for each process, a case for each
// leaking site and each judgement of growth.
#ifndef HT_REPORT_JUNIT_H
#define HT_REPORT_JUNIT_H

#include <stdbool.h>

#include "report_set.h"

// What is a failure; the rest of the findings is skipped, with that reason.
struct junit_gates {
  bool leaks, growth;
};

// Writes the file. False after a line on stderr.
bool report_junit(const char *path, const struct report_set *set, struct junit_gates gates);

#endif
