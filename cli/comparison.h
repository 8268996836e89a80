// What changed from one report to another, site by site. Prints nothing.
//
// A site is its kind and its chain of functions (chain.h). Of each site three figures are looked at, in this order:
// what leaked, what was live at the end, what it held at the peak; the first of them that changed names the site's
// change, so that each change is named once.
#ifndef HT_COMPARISON_H
#define HT_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chain.h"
#include "report_set.h"

enum change { CHANGE_NEW, CHANGE_GROWN, CHANGE_GONE, CHANGE_SHRUNK, CHANGE_COUNT, CHANGE_NONE = CHANGE_COUNT };
#define CHANGE_NAMES                                                                                                   \
  { "new", "grown", "gone", "shrunk" }

enum figure { FIGURE_LEAKED, FIGURE_LIVE, FIGURE_PEAK, FIGURE_COUNT };
#define FIGURE_NAMES                                                                                                   \
  { "leaked", "live", "peak" }

// Of a site, or of a process as a whole.
struct figures {
  uint64_t bytes[FIGURE_COUNT], blocks[FIGURE_COUNT];
  uint64_t allocations;
};

enum side { SIDE_BASE, SIDE_NEW, SIDE_COUNT };

struct site_change {
  enum change change;
  enum figure figure; // the one that decided
  uint32_t kind;      // enum ht_kind
  struct figures sides[SIDE_COUNT];
  const struct stacks *stacks; // of the report that has more of it
  uint32_t stack;              // node of them: of the site's largest part
};

// A site of either report, whether it changed or not.
struct compared_site {
  uint32_t kind, chain; // enum ht_kind; chains' link
  enum change change;
  enum figure figure; // CHANGE_NONE: of no meaning
  struct figures sides[SIDE_COUNT];
};

struct comparison {
  const struct judgement *judgements[SIDE_COUNT]; // NULL: the process is only in the other folder
  struct figures totals[SIDE_COUNT];
  struct compared_site *sites;
  size_t site_count;
  struct site_change *changes; // by change and figure, then the largest difference first
  size_t change_count, counts[CHANGE_COUNT];
  uint64_t small_sites; // changed by less than counts as a change
  int64_t small_bytes;  // what was live at them, new minus base
  char **notes;         // what makes the two hard to compare, a sentence each
  size_t note_count, note_capacity;
};

struct comparison_list {
  struct chains chains;
  struct comparison *items; // the main process first, then in the order of the new folder; last what is gone
  size_t count;
};

// Both sets are judged already, and have to stay until comparison_list_free.
struct comparison_list comparison_list_make(const struct report_set *base, const struct report_set *new);
void comparison_list_free(struct comparison_list *list);

// Whether a site is new, or with `grown` has grown. What only holds more at the peak counts where the process's peak
// has risen: a peak that moved to another moment has other holders, and is no news.
bool comparison_has_more(const struct comparison *comparison, bool grown);

// New minus base of the figure that decided.
int64_t site_change_bytes(const struct site_change *change);

#endif
