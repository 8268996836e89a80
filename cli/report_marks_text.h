// The MARKS table of the text report.
#ifndef HT_REPORT_MARKS_TEXT_H
#define HT_REPORT_MARKS_TEXT_H

#include "model.h"
#include "text_out.h"

// Nothing where the program made no mark. At most `top` names, in the order in which they came.
void report_marks_text(struct text_out *out, const struct report *report, uint64_t top);

#endif
