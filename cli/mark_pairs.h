// What memory grew by from one mark of a name to the next, in two reports.
#ifndef HT_MARK_PAIRS_H
#define HT_MARK_PAIRS_H

#include "comparison.h"

struct mark_pair {
  const char *name;
  const struct ht_file_mark_name *sides[SIDE_COUNT]; // NULL: not there
};

struct mark_pairs {
  struct mark_pair *items;
  size_t count;
};

// The names that came more than once in either: those of the new report in its order, then those that are gone. Of
// names beyond the most that a recorder keeps none is looked at.
struct mark_pairs mark_pairs_make(const struct comparison *comparison);
void mark_pairs_free(struct mark_pairs *pairs);

#endif
