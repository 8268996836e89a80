// The end of a run: its closing line, and what --fail-on makes of its reports.
#ifndef HT_RUN_END_H
#define HT_RUN_END_H

#include <stdbool.h>

#include "outdir.h"

// `heaptide: 1 process, leaked 18.75 KiB, peak 31.2 MiB -> DIR (heaptide report)` on stderr.
// `signal` ended CMD, 0: none; `silent`: the user knows already that nothing was recorded.
void run_end_line(const struct outdir *outdir, int signal, bool silent);

// The exit status of a run whose CMD ended with 0: 1 when a report holds a finding that `fail_on` names.
int run_end_judge(const struct outdir *outdir, const char *fail_on);

#endif
