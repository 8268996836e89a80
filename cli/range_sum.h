// One figure of several processes: the sum, and the least and the most that one of them has.
#ifndef HT_RANGE_SUM_H
#define HT_RANGE_SUM_H

#include <stddef.h>
#include <stdint.h>

struct range_sum {
  uint64_t sum, least, most;
  size_t count;
};

void range_add(struct range_sum *range, uint64_t bytes);

// `257 MiB, 64.1 MiB to 64.4 MiB each`; of one process alone its figure. To be freed.
char *range_text(const struct range_sum *range);

#endif
