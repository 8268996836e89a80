// The end of a run: its closing line, and what --fail-on makes of its reports.
#ifndef HT_RUN_END_H
#define HT_RUN_END_H

#include <stdbool.h>
#include <stdint.h>

#include "outdir.h"

// What the reports of a run amount to.
struct run_end {
  unsigned processes, reports;
  uint64_t leaked_bytes; // all processes together
  uint64_t peak_bytes;   // of the process with the highest
  unsigned lost;         // reports that could not be written
  int lost_error;        // why, the errno of one of them
  bool folder_gone;
};

// Reads the folder's reports; notes of lost ones are taken away.
void run_end_read(struct run_end *end, const struct outdir *outdir);

// `heaptide: 1 process, leaked 18.8 KiB, peak 31.2 MiB -> DIR (heaptide report)` on stderr, unless nothing was
// reported. `signal` ended CMD, 0: none. `named`: the user named the folder, so that `heaptide report` needs it.
void run_end_line(const struct run_end *end, const struct outdir *outdir, int signal, bool named);

// Says on stderr what is missing. `silent`: the user has been told already that CMD is not recorded.
void run_end_losses(const struct run_end *end, const struct outdir *outdir, int signal, bool silent);

// The exit status of a run whose CMD ended with 0: 1 when a report holds a finding that `fail_on` names, 125 when the
// reports cannot be judged.
int run_end_judge(const struct outdir *outdir, const char *fail_on);

#endif
