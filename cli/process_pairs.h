// Which process of one folder is which of another.
#ifndef HT_PROCESS_PAIRS_H
#define HT_PROCESS_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "report_set.h"

#define NO_PROCESS SIZE_MAX

struct process_pair {
  size_t base, new; // indexes into the sets, NO_PROCESS: not there
};

struct process_pairs {
  struct process_pair *items;
  size_t count;
};

// Pairs, first that fits: the same process (two snapshots of it); the same program name, rank, and way it came into
// being, in the order of their starts; the same program name and rank; what is left of the processes that were started
// as CMD. The rest stays alone. In the order of the new set, then what is only in the base. Free `items`.
struct process_pairs process_pairs_make(const struct report_set *base, const struct report_set *new);

#endif
