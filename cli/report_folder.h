// Which report files a folder holds.
#ifndef HT_REPORT_FOLDER_H
#define HT_REPORT_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "problem.h"

struct report_paths {
  char **paths;
  uint32_t *pids; // by the files' names
  size_t count, capacity;
};

// The report files of `folder` (heaptide.PID.bin, heaptide.PID-N.bin), in the order of pid and N, each before both
// checkpoints of its process, if they may count; or `folder` itself when it is a file. False: it cannot be read or
// holds none, `problem` says which.
bool report_paths_find(const char *folder, struct report_paths *found, struct problem *problem);
// True for a checkpoint, which may be damaged: the process was killed in the middle of it, and the other one is whole.
bool report_path_is_checkpoint(const char *path);
void report_paths_free(struct report_paths *found);

// The newest folder heaptide.* of the working folder that holds report files, in new memory; NULL: there is none.
char *report_folder_newest(void);

#endif
