// What a stack's width can mean, one line each: the same list for folded stacks, exports and graphs.
#ifndef HT_MEASURE_H
#define HT_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judgement.h"

struct measure {
  const char *word;
  bool bytes; // else a number of calls
  uint64_t (*value)(const struct row *row);
};

enum { MEASURE_COUNT = 5 };
extern const struct measure measures[MEASURE_COUNT];

// The measure with this word; it is one of MEASURE_CHOICES.
const struct measure *measure_find(const char *word);

// The words, as an option takes them.
#define MEASURE_CHOICES "leaked|live|peak|allocated|temporaries"

#endif
