// Processes that do the same work: started by one process, the same program with the same arguments but for numbers
// (ranks, descriptors). Their peaks and leaks are added up. Prints nothing.
#ifndef HT_WORKERS_H
#define HT_WORKERS_H

#include <stddef.h>
#include <stdint.h>

#include "range_sum.h"
#include "report_set.h"

struct worker_group {
  size_t *members; // indexes in the set, in its order: two at least
  size_t count;
  uint32_t parent_pid;
  struct range_sum peak;
  struct range_sum leaked; // of those in which leaks were looked for
};

struct workers {
  struct worker_group *groups; // in the order of their first members
  size_t count;
};

// The set has been judged and has to stay until workers_free.
struct workers workers_make(const struct report_set *set);
void workers_free(struct workers *workers);

// Tells the judgements of `set` their group, which has to stay as long as they are shown.
void workers_tell(const struct workers *workers, struct report_set *set);

#endif
