// The folder that the reports of a run go to.
#ifndef HT_OUTDIR_H
#define HT_OUTDIR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

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

enum outdir_kind {
  OUTDIR_OTHER,
  OUTDIR_REPORT,     // heaptide.<pid>[-N].bin
  OUTDIR_LOST,       // heaptide.<pid>[-N].lost.<errno>: a report that could not be written (native/writer.h)
  OUTDIR_UNSEEN,     // heaptide.<pid>.unseen: a link to a program that could not be followed (native/hook_exec.c)
  OUTDIR_UNFINISHED, // .heaptide.<pid>[-N].tmp: one that was being written
  OUTDIR_CHECKPOINT, // .heaptide.<pid>[-N].live, .live2 (native/checkpoint.h)
  OUTDIR_REQUEST,    // .heaptide.<pid>[-N].ask (native/snapshot_request.h)
  OUTDIR_NAMESPACE,  // whose numbers the others have (pid_namespace.h)
};

// What a file's name in the folder says.
struct outdir_name {
  enum outdir_kind kind;
  uint64_t pid;   // 0: OUTDIR_OTHER, OUTDIR_NAMESPACE
  uint64_t image; // its N, 0: none
  uint64_t error; // OUTDIR_LOST: the errno
};
struct outdir_name outdir_name_read(const char *name);

#endif
