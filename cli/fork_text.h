// What forked processes hold together, in the text report.
#ifndef HT_FORK_TEXT_H
#define HT_FORK_TEXT_H

#include "fork_family.h"
#include "text_out.h"

// Nothing of families that share less than a MiB. At most `top` sites of each.
void fork_text(struct text_out *out, const struct report_set *set, const struct fork_families *families, uint64_t top);

#endif
