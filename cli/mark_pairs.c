#include "mark_pairs.h"

#include <stdlib.h>

#include "marks.h"
#include "memory.h"

enum { NAMES_MAX = 1024 }; // native/marks.h: a made-up file may hold more

static bool is_repeated(const struct ht_file_mark_name *name) { return name && mark_is_repeated(name); }

// The names of one side, and what the other has of them; with `missing_only` those that the other does not have.
static void side_add(struct mark_pairs *pairs, const struct comparison *comparison, enum side side, bool missing_only) {
  const struct judgement *own = comparison->judgements[side], *other = comparison->judgements[!side];
  for (uint32_t i = 0; own && i < own->report->mark_name_count && i < NAMES_MAX; i++) {
    struct mark_pair pair = {.name = mark_text(own->report, &own->report->mark_names[i])};
    pair.sides[side] = &own->report->mark_names[i];
    pair.sides[!side] = other ? mark_find(other->report, pair.name, NAMES_MAX) : NULL;
    if (missing_only && pair.sides[!side]) continue;
    if (is_repeated(pair.sides[SIDE_BASE]) || is_repeated(pair.sides[SIDE_NEW])) pairs->items[pairs->count++] = pair;
  }
}

struct mark_pairs mark_pairs_make(const struct comparison *comparison) {
  struct mark_pairs pairs = {memory_get(2 * NAMES_MAX, sizeof *pairs.items), 0};
  side_add(&pairs, comparison, SIDE_NEW, false);
  side_add(&pairs, comparison, SIDE_BASE, true);
  return pairs;
}

void mark_pairs_free(struct mark_pairs *pairs) { free(pairs->items); }
