#include "run_end.h"

#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"

void run_end_line(const struct outdir *outdir, int signal, bool silent) {
  int processes = outdir_process_count(outdir);
  if (processes == 0 && silent) return;
  char ending[80] = "";
  if (signal) snprintf(ending, sizeof ending, "ended by SIG%s, ", sigabbrev_np(signal) ? sigabbrev_np(signal) : "?");
  if (processes == 0)
    complain("%sno report was written; heaptide doctor says what is missing", ending);
  else
    complain("%s%d process%s -> %s (heaptide report)", ending, processes, processes == 1 ? "" : "es", outdir->shown);
}
