// Processes that were forked from one another, and what memory they have together: pages that a fork left in several
// of them are counted once. Prints nothing.
//
// Each process was looked at when its report was begun, at its end mostly. A page that it then had together with
// another one is left to the process that ends later, down to the last, which counts what it has then, or the most that
// one that came from it had together with it before, where it has given that back since. Snapshots are taken
// while all go on: what is shared there counts once as the most that one of them shares.
#ifndef HT_FORK_FAMILY_H
#define HT_FORK_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report_set.h"

#define FORK_NO_PARENT SIZE_MAX

struct fork_member {
  size_t report;          // index in the set
  size_t parent;          // member that it was forked from; FORK_NO_PARENT: the first, or it has no report here
  uint32_t parent_pid;    // 0: the first
  uint64_t counted_bytes; // its part of once_bytes
};

// What one site's blocks have of the shared pages.
struct fork_site {
  uint32_t kind;
  const struct shown_frame *frame; // of one of the processes; NULL: unknown
  uint64_t bytes;                  // the most that one process shares
  uint32_t processes;
};

struct fork_family {
  struct fork_member *members; // the first is the one that all come from, where it has a report; then by their start
  size_t count;
  size_t unknown;           // of these have no figures: they were killed
  uint64_t anonymous_bytes; // the sum over all
  uint64_t shared_bytes;    // of these in another process too
  uint64_t once_bytes;      // with these counted once
  struct fork_site *sites;  // largest first
  size_t site_count;
};

struct fork_families {
  struct fork_family *table;
  size_t count;
};

// Those of at least two processes. The set has been judged and has to stay until fork_families_free.
struct fork_families fork_families_make(const struct report_set *set);
void fork_families_free(struct fork_families *families);

// Tells the judgements of `set` their part, which without a family is all of a process's anonymous memory.
void fork_counted_tell(const struct fork_families *families, struct report_set *set);

// The figures of a process; NULL: not known.
const struct ht_file_resident *fork_figures(const struct report *report);

#endif
