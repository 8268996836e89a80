// A comparison for people.
#ifndef HT_DIFF_TEXT_H
#define HT_DIFF_TEXT_H

#include <stdint.h>

#include "comparison.h"
#include "text_out.h"

// At most `top` sites of each kind of change.
void diff_text(struct text_out *out, const struct comparison *comparison, uint64_t top);

// One line, for a process pair without changes that is not the main one.
void diff_text_same(struct text_out *out, const struct comparison *comparison);

#endif
