#include "run_end.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "model.h"
#include "options.h"
#include "units.h"

static void report_add(struct run_end *end, const char *path) {
  struct report report;
  struct problem problem;
  if (!report_load(path, &report, &problem)) return; // `heaptide report` will say what is wrong with it
  for (uint32_t i = 0; i < report.leak_count; i++) {
    const struct ht_file_site *site = &report.sites[report.leaks[i].site];
    if (leak_is_summed((enum ht_kind)site->kind, site->flags & HT_SITE_RESIDUE, false))
      end->leaked_bytes += report.leaks[i].direct_bytes + report.leaks[i].indirect_bytes;
  }
  if (report.process->peak_bytes > end->peak_bytes) end->peak_bytes = report.process->peak_bytes;
  report_free(&report);
}

static void lost_add(struct run_end *end, const char *path, const struct outdir_name *name) {
  end->lost++;
  end->lost_error = (int)name->error;
  unlink(path);
}

static int by_number(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static unsigned different_count(uint64_t *pids, unsigned count) {
  qsort(pids, count, sizeof *pids, by_number);
  unsigned different = count > 0;
  for (unsigned i = 1; i < count; i++) different += pids[i] != pids[i - 1];
  return different;
}

void run_end_read(struct run_end *end, const struct outdir *outdir) {
  *end = (struct run_end){0};
  struct dirent **entries;
  int count = scandir(outdir->path, &entries, NULL, NULL);
  end->folder_gone = count < 0;
  if (count <= 0) return;
  uint64_t *pids = calloc((size_t)count, sizeof *pids);
  for (int i = 0; i < count; i++) {
    char path[PATH_MAX + NAME_MAX + 2];
    snprintf(path, sizeof path, "%s/%s", outdir->path, entries[i]->d_name);
    struct outdir_name name = outdir_name_read(entries[i]->d_name);
    if (name.kind == OUTDIR_LOST) lost_add(end, path, &name);
    if (name.kind == OUTDIR_REPORT) {
      report_add(end, path);
      if (pids) pids[end->reports] = name.pid;
      end->reports++;
    }
    free(entries[i]);
  }
  end->processes = pids ? different_count(pids, end->reports) : end->reports;
  free(entries);
  free(pids);
}

static const char *signal_name(int signal) {
  const char *name = sigabbrev_np(signal);
  return name ? name : "?"; // a real-time signal
}

void run_end_line(const struct run_end *end, const struct outdir *outdir, int signal, bool named) {
  if (!end->reports) return;
  char ending[64] = "", leaked[UNITS_TEXT], peak[UNITS_TEXT];
  if (signal) snprintf(ending, sizeof ending, "ended by SIG%s, ", signal_name(signal));
  complain("%s%u process%s, leaked %s, peak %s -> %s (heaptide report%s%s)", ending, end->processes,
           end->processes == 1 ? "" : "es", bytes_text(leaked, end->leaked_bytes), bytes_text(peak, end->peak_bytes),
           outdir->shown, named ? " " : "", named ? outdir->shown : "");
}

void run_end_losses(const struct run_end *end, const struct outdir *outdir, int signal, bool silent) {
  if (end->lost)
    complain("%s: %u report%s could not be written: %s; make room and run again", outdir->shown, end->lost,
             end->lost == 1 ? "" : "s", strerror(end->lost_error));
  else if (end->folder_gone)
    complain("%s: the reports are lost: the folder is gone or cannot be read; run again with another --out",
             outdir->shown);
  else if (end->reports || silent)
    return;
  else if (signal)
    complain("%s: no report was written: CMD was ended by SIG%s; end it with SIGTERM or let it exit", outdir->shown,
             signal_name(signal));
  else
    complain("%s: no report was written: CMD could not write there or left unseen; run again with another --out",
             outdir->shown);
}

int run_end_judge(const struct outdir *outdir, const char *fail_on) {
  char *argv[] = {"report", (char *)outdir->path, "--fail-on", (char *)fail_on, NULL};
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, STDOUT_FILENO) < 0) { // CMD's stdout is not the place for a report
    complain("run: /dev/null: %s; run heaptide report --fail-on %s", strerror(errno), fail_on);
    return STATUS_RUN_FAILED;
  }
  close(null);
  int status = command_report(4, argv);
  return status == STATUS_ERROR ? STATUS_RUN_FAILED : status;
}
