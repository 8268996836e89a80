// The table of ranks in the text report.
#ifndef HT_RANKS_TEXT_H
#define HT_RANKS_TEXT_H

#include "ranks.h"
#include "text_out.h"

// Nothing where there is only one rank, or none.
void ranks_text(struct text_out *out, const struct ranks *ranks);

#endif
