// A set of address ranges in own memory, for taking them away from others.
#ifndef HT_SPANS_H
#define HT_SPANS_H

#include "words.h"

struct span {
  uintptr_t start, end;
};

struct spans {
  struct span *table;
  uint32_t count, capacity;
  bool full; // no memory: something is missing in the set
};

// Adds [start, end); an empty one is ignored. Takes LOCK_RANK_SYS.
void spans_add(struct spans *spans, uintptr_t start, uintptr_t end);
// Sorts and joins; needed before spans_gaps.
void spans_sort(struct spans *spans);
// Calls `visit` for each part of [start, end) that is in no span.
void spans_gaps(const struct spans *spans, uintptr_t start, uintptr_t end,
                void (*visit)(uintptr_t start, uintptr_t end, void *context), void *context);
void spans_drop(struct spans *spans);

#endif
