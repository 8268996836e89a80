// Folded stacks, as flame graph tools read them: `outermost;...;leaf VALUE`.
#ifndef HT_FOLDED_H
#define HT_FOLDED_H

#include <stdio.h>

#include "report_set.h"

// `what`: one of MEASURE_CHOICES. `prefix`: a first frame, NULL: none.
void folded_print(FILE *stream, const struct judgement *judgement, const char *what, const char *prefix);

// Those of every process; of several each gets a first frame of its own.
void folded_print_set(FILE *stream, const struct report_set *set, const char *what);

#endif
