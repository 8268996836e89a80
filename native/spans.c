#include "spans.h"

#include "growing.h"

void spans_add(struct spans *spans, uintptr_t start, uintptr_t end) {
  if (start >= end) return;
  if (spans->count && spans->table[spans->count - 1].end == start) { // neighbours come one after the other
    spans->table[spans->count - 1].end = end;
    return;
  }
  if (!growing_reserve((void **)&spans->table, &spans->capacity, spans->count + 1, sizeof *spans->table))
    spans->full = true;
  else
    spans->table[spans->count++] = (struct span){start, end};
}

// Heap sort: no recursion, no memory, and no bad case.
static void span_sift(struct span *table, uint32_t at, uint32_t count) {
  struct span moving = table[at];
  for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && table[child].start < table[child + 1].start) child++;
    if (table[child].start <= moving.start) break;
    table[at] = table[child];
  }
  table[at] = moving;
}

static void spans_order(struct span *table, uint32_t count) {
  for (uint32_t at = count / 2; at-- > 0;) span_sift(table, at, count);
  for (uint32_t last = count; last-- > 1;) {
    struct span largest = table[0];
    table[0] = table[last];
    table[last] = largest;
    span_sift(table, 0, last);
  }
}

void spans_sort(struct spans *spans) {
  spans_order(spans->table, spans->count);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < spans->count; i++) {
    struct span *last = kept ? &spans->table[kept - 1] : NULL;
    if (last && spans->table[i].start <= last->end)
      last->end = spans->table[i].end > last->end ? spans->table[i].end : last->end;
    else
      spans->table[kept++] = spans->table[i];
  }
  spans->count = kept;
}

// The first span that ends behind `address`.
static uint32_t span_after(const struct spans *spans, uintptr_t address) {
  uint32_t low = 0, high = spans->count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (spans->table[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void spans_gaps(const struct spans *spans, uintptr_t start, uintptr_t end, void (*visit)(uintptr_t, uintptr_t, void *),
                void *context) {
  for (uint32_t i = span_after(spans, start); start < end; i++) {
    bool more = i < spans->count && spans->table[i].start < end;
    uintptr_t gap_end = more ? spans->table[i].start : end;
    if (start < gap_end) visit(start, gap_end, context);
    if (!more) return;
    start = spans->table[i].end;
  }
}

void spans_drop(struct spans *spans) {
  if (spans->table) sys_unmap(spans->table, spans->capacity * sizeof *spans->table);
  *spans = (struct spans){0};
}
