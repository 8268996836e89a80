// The end of a run: its closing line, and what --fail-on makes of its reports.
#ifndef HT_RUN_END_H
#define HT_RUN_END_H

#include <stdbool.h>
#include <stdint.h>

#include "outdir.h"

#define RUN_END_NAMES 4
#define RUN_ENDINGS_MAX 10 // lines about them

// What the reports of a run amount to.
struct run_end {
  unsigned processes; // those that a runtime started for itself are left out here, and in all sums
  unsigned reports;
  uint64_t leaked_bytes, python_leaked_bytes; // all processes together
  uint64_t peak_bytes;                        // of the process with the highest
  unsigned lost;                              // reports that could not be written
  int lost_error;                             // why, the errno of one of them
  bool folder_gone;
  unsigned unseen;                   // children that could not be followed
  char *unseen_names[RUN_END_NAMES]; // the first programs among them, NULL: no more
  bool more_unseen;                  // than those
  unsigned scanned;                  // reports with a leak scan
  bool estimated;                    // figures are, of one at least
  unsigned running;                  // processes that outlive CMD: daemons
  struct run_ending {
    uint32_t pid, reason, signal;
    char name[64];
  } endings[RUN_ENDINGS_MAX]; // of processes that did not end by themselves, but for the main one
  unsigned endings_count;     // may be more than there is room for
};

// Reads the folder's reports; notes of lost and unseen ones are taken away. Nothing needs to be freed: heaptide ends.
void run_end_read(struct run_end *end, const struct outdir *outdir);

// `heaptide: 1 process, leaked 18.8 KiB, peak 31.2 MiB -> DIR (heaptide report)` on stderr, unless nothing was
// reported. `signal` ended CMD, 0: none. `named`: the user named the folder, so that `heaptide report` needs it.
void run_end_line(const struct run_end *end, const struct outdir *outdir, int signal, bool named);

// `heaptide: 3 children not followed: /usr/bin/foo, /usr/bin/bar; ...` on stderr, where there were any.
void run_end_unseen(const struct run_end *end);

// `heaptide: 1 process of CMD goes on; ...` on stderr, where one does.
void run_end_running(const struct run_end *end, const struct outdir *outdir);

// Says on stderr what is missing. `silent`: the user has been told already that CMD is not recorded.
void run_end_losses(const struct run_end *end, const struct outdir *outdir, int signal, bool silent);

// The exit status of a run whose CMD ended with 0: 1 when a report holds a finding that `fail_on` names, 125 when the
// reports cannot be judged.
int run_end_judge(const struct outdir *outdir, const char *fail_on);

#endif
