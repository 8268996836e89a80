// Folded stacks, as flame graph tools read them: `outermost;...;leaf VALUE`.
#ifndef HT_FOLDED_H
#define HT_FOLDED_H

#include <stdio.h>

#include "judgement.h"

// `what`: leaked, live, peak, allocated (bytes each) or temporaries (their number). `prefix`: a first frame, NULL:
// none.
void folded_print(FILE *stream, const struct judgement *judgement, const char *what, const char *prefix);

// The words that folded_print knows, as `a|b|c`.
#define FOLDED_CHOICES "leaked|live|peak|allocated|temporaries"

#endif
