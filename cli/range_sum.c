#include "range_sum.h"

#include "memory.h"
#include "units.h"

void range_add(struct range_sum *range, uint64_t bytes) {
  if (!range->count || bytes < range->least) range->least = bytes;
  if (bytes > range->most) range->most = bytes;
  range->sum += bytes;
  range->count++;
}

char *range_text(const struct range_sum *range) {
  char sum[UNITS_TEXT], least[UNITS_TEXT], most[UNITS_TEXT];
  bytes_text(sum, range->sum);
  if (range->count == 1) return memory_format("%s", sum);
  return memory_format("%s, %s to %s each", sum, bytes_text(least, range->least), bytes_text(most, range->most));
}
