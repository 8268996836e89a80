// A comparison as one JSON object on a line: heaptide-diff/1, described in docs/diff.md.
#ifndef HT_DIFF_JSON_H
#define HT_DIFF_JSON_H

#include <stdio.h>

#include "comparison.h"

void diff_json(FILE *stream, const struct comparison *comparison);

#endif
