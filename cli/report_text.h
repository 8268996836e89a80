// A judged report as text.
#ifndef HT_REPORT_TEXT_H
#define HT_REPORT_TEXT_H

#include <stdint.h>

#include "judgement.h"
#include "text_out.h"

// `top`: rows of each list.
void report_text(struct text_out *out, const struct judgement *judgement, uint64_t top);

// The one line of a helper process that has nothing to say.
void report_text_quiet(struct text_out *out, const struct judgement *judgement);

#endif
