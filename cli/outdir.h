// The folder that the reports of a run go to.
#ifndef HT_OUTDIR_H
#define HT_OUTDIR_H

#include <limits.h>
#include <stdbool.h>

struct outdir {
  char path[PATH_MAX];  // absolute
  char shown[PATH_MAX]; // as the user would name it
  bool made;            // it was made for this run: an empty one may be removed again
};

// Takes the folder `wanted`, made if need be, or with NULL a new one named after `program` and `pid` in the working
// folder. With `overwrite` reports that it holds are removed. False after a complaint.
bool outdir_take(struct outdir *outdir, const char *wanted, const char *program, int pid, bool overwrite);

// Removes the folder if it was made for this run and nothing is in it.
void outdir_drop_empty(const struct outdir *outdir);

// True for `heaptide.<pid>.bin` and `heaptide.<pid>-<N>.bin`.
bool outdir_is_report(const char *name);

// How many processes (pids) have reports in the folder; 0 when it cannot be read.
int outdir_process_count(const struct outdir *outdir);

#endif
