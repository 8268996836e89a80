// Reports of many ranks (torchrun, MPI, Slurm) side by side. Prints nothing.
#ifndef HT_RANKS_H
#define HT_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include "report_set.h"

// A rank as its widest process shows it: a rank's helpers have its number too.
struct rank_row {
  uint32_t rank;
  const struct judgement *judgement;
};

struct ranks {
  struct rank_row *rows; // by rank
  size_t count;          // less than two: nothing to compare
  size_t widest;         // the row with the highest peak; of equal ones the lowest rank
};

// The set has been judged and has to stay until ranks_free.
struct ranks ranks_make(const struct report_set *set);
void ranks_free(struct ranks *ranks);

#endif
