// A traced process looked at again and again while it runs: its figures from its checkpoints (native/checkpoint.h),
// merged by site, and what they changed by lately. The process does nothing for it but write one checkpoint more when
// there was none for a while although it has run (native/snapshot_request.h).
#ifndef HT_WATCH_H
#define HT_WATCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "pool.h"
#include "program_name.h"
#include "symbols.h"
#include "traced.h"

struct view_row {
  const char *name, *place; // function and file:line of the site; pooled, "" where not known
  uint64_t live_bytes;      // of all kinds
  uint64_t device_bytes;    // of these, on GPUs
  uint64_t allocations;
  double growth_bytes_per_s, allocations_per_s;
};

// A living thread, or those that have ended together.
struct view_thread {
  uint32_t tid;      // 0: those that have ended, or that are too many for rows of their own
  const char *name;  // pooled
  int64_t net_bytes; // what it allocated less what it freed
  uint64_t allocations;
  double growth_bytes_per_s, allocations_per_s; // growth of net_bytes
};

struct view {
  double at_s; // since the recording began
  uint64_t live_bytes, peak_bytes, device_bytes, allocations, calls, rss_bytes;
  uint32_t threads;
  double allocations_per_s;
  struct view_row *rows; // sorted by name and place
  size_t row_count;
  struct view_thread *thread_rows; // by tid
  size_t thread_row_count;
};

enum watch_state {
  WATCH_RUNS,
  WATCH_NOTHING, // no figures yet
  WATCH_LEFT,    // not recorded any more: it writes its last report, or was detached from
  WATCH_ENDED,
};

// Growth and rates are those of this many views.
#define WATCH_VIEWS 6

struct watch {
  char folder[PATH_MAX];
  struct traced traced;
  char program[PROGRAM_NAME_BYTES];
  enum watch_state state;
  struct view views[WATCH_VIEWS]; // oldest first
  int view_count;                 // 0: none yet
  struct symbols symbols;
  struct pool texts;
  uint64_t started_unix_ns; // 0: not known yet
  bool estimated;           // figures are
  struct stat read;         // of the checkpoint that was read last
  double read_at_s;         // on the clock, and
  double read_s;            // in the recording's time
  bool woken;               // and nothing has happened since
  uint64_t activity;        // process_activity after its answer, 0: not known yet
};

// Begins to watch `traced`, of `folder`, and takes the first view as exactly as it can be had.
void watch_begin(struct watch *watch, const char *folder, const struct traced *traced);

// Takes a view of now.
void watch_look(struct watch *watch);

// The latest view. There is one.
static inline const struct view *watch_view(const struct watch *watch) { return &watch->views[watch->view_count - 1]; }

void watch_end(struct watch *watch);

#endif
