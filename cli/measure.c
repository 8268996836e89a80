#include "measure.h"

#include <string.h>

static uint64_t leaked_value(const struct row *row) {
  return row->suppressed ? 0 : row->direct_bytes + row->indirect_bytes;
}
static uint64_t live_value(const struct row *row) { return row->live_bytes; }
static uint64_t peak_value(const struct row *row) { return row->peak_bytes; }
static uint64_t allocated_value(const struct row *row) { return row->allocated_bytes; }
static uint64_t temporaries_value(const struct row *row) { return row->temporaries; }

const struct measure measures[MEASURE_COUNT] = {
    {"leaked", true, leaked_value},
    {"live", true, live_value},
    {"peak", true, peak_value},
    {"allocated", true, allocated_value},
    {"temporaries", false, temporaries_value},
};

const struct measure *measure_find(const char *word) {
  const struct measure *measure = measures;
  while (strcmp(measure->word, word) != 0) measure++;
  return measure;
}
