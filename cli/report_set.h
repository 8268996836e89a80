// All reports of a folder, read, named in one batch and judged: what every command that looks at reports starts from.
#ifndef HT_REPORT_SET_H
#define HT_REPORT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judgement.h"
#include "model.h"
#include "stacks.h"
#include "symbols.h"

struct report_set {
  struct report *reports; // the last of each (pid, image); the main process first, then by their start
  struct stacks *stacks;
  struct judgement *judgements;
  size_t count, damaged_count; // damaged files are not among the reports
  struct symbols symbols;
};

// Reads `folder` (or a single file), of process `pid` only unless that is 0. Says on stderr which files are damaged.
// False, with a line on stderr: nothing is there to be shown.
bool report_set_load(struct report_set *set, const char *folder, uint64_t pid);

// Names and judges what was read.
void report_set_judge(struct report_set *set, const struct judgement_rules *rules);

void report_set_free(struct report_set *set);

#endif
