#include "run_end.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoints.h"
#include "commands.h"
#include "leak_sum.h"
#include "memory.h"
#include "model.h"
#include "mojo_process.h"
#include "options.h"
#include "problem.h"
#include "traced.h"
#include "units.h"

// Less than that the collector had merely not come for yet, in any program.
enum { PYTHON_LEAK_TOLD_BYTES = 64 << 10 };

// What the closing line needs of a report. Reports are read one at a time: of a large build all together would not fit.
struct ended {
  struct mojo_process mojo;
  uint64_t leaked_bytes, python_leaked_bytes, peak_bytes;
  bool scanned, estimated, has_ending;
  struct run_ending ending;
};

static bool ended_otherwise(const struct ht_file_process *process) {
  return process->reason == HT_REASON_SIGNAL || process->reason == HT_REASON_CRASH ||
         process->reason == HT_REASON_KILLED;
}

static struct run_ending ending_of(const struct report *report) {
  const struct ht_file_process *process = report->process;
  const char *exe = report->strings + process->exe, *slash = strrchr(exe, '/');
  struct run_ending ending = {.pid = process->pid, .reason = process->reason, .signal = process->signal};
  snprintf(ending.name, sizeof ending.name, "%s", slash ? slash + 1 : exe);
  return ending;
}

// Of a report that cannot be read the number of its process is what is known: `heaptide report` will say what is wrong.
static struct ended ended_read(const char *path, uint64_t pid) {
  struct ended ended = {.mojo.pid = (uint32_t)pid};
  struct report report;
  struct problem problem;
  if (!report_load(path, &report, &problem)) return ended;
  ended.mojo = mojo_process_of(&report);
  ended.leaked_bytes = leak_sum_bytes(&report);
  ended.python_leaked_bytes = leak_sum_python_bytes(&report);
  ended.peak_bytes = report.process->peak_bytes;
  ended.scanned = (report.process->flags & HT_PROCESS_SCANNED) != 0;
  ended.estimated = report_is_estimated(&report);
  ended.has_ending = !ended.mojo.main && ended_otherwise(report.process);
  if (ended.has_ending) ended.ending = ending_of(&report);
  report_free(&report);
  return ended;
}

static void ended_add(struct run_end *end, const struct ended *ended) {
  end->leaked_bytes += ended->leaked_bytes;
  end->python_leaked_bytes += ended->python_leaked_bytes;
  if (ended->peak_bytes > end->peak_bytes) end->peak_bytes = ended->peak_bytes;
  end->scanned += ended->scanned;
  end->estimated |= ended->estimated;
  if (!ended->has_ending) return;
  if (end->endings_count < RUN_ENDINGS_MAX) end->endings[end->endings_count] = ended->ending;
  end->endings_count++;
}

static void lost_add(struct run_end *end, const char *path, const struct outdir_name *name) {
  end->lost++;
  end->lost_error = (int)name->error;
  unlink(path);
}

static void unseen_add(struct run_end *end, const char *path) {
  char program[PATH_MAX];
  ssize_t bytes = readlink(path, program, sizeof program - 1);
  unlink(path);
  program[bytes > 0 ? bytes : 0] = 0;
  end->unseen++;
  for (int i = 0; i < RUN_END_NAMES; i++) {
    if (!end->unseen_names[i]) end->unseen_names[i] = strdup(program);
    if (!end->unseen_names[i] || strcmp(end->unseen_names[i], program) == 0) return;
  }
  end->more_unseen = true;
}

static int by_number(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

static unsigned different_count(uint32_t *pids, unsigned count) {
  qsort(pids, count, sizeof *pids, by_number);
  unsigned different = count > 0;
  for (unsigned i = 1; i < count; i++) different += pids[i] != pids[i - 1];
  return different;
}

// What a runtime started for itself is not the user's: it is a line of the report, and no part of these sums.
static void ended_sum(struct run_end *end, const struct ended *table) {
  unsigned count = 0;
  struct mojo_process *processes = memory_get(end->reports, sizeof *processes);
  uint32_t *pids = memory_get(end->reports, sizeof *pids);
  for (unsigned i = 0; i < end->reports; i++) processes[i] = table[i].mojo;
  bool *helpers = mojo_helpers_find(processes, end->reports);
  for (unsigned i = 0; i < end->reports; i++) {
    if (helpers[i]) continue;
    ended_add(end, &table[i]);
    pids[count++] = table[i].mojo.pid;
  }
  end->processes = different_count(pids, count);
  free(helpers);
  free(pids);
  free(processes);
}

static void running_count(struct run_end *end, const struct outdir *outdir) {
  struct traced_list running;
  if (!traced_find(outdir->path, &running)) return;
  end->running = (unsigned)running.count;
  traced_free(&running);
}

void run_end_read(struct run_end *end, const struct outdir *outdir) {
  *end = (struct run_end){0};
  checkpoints_settle(outdir->path);
  struct dirent **entries;
  int count = scandir(outdir->path, &entries, NULL, NULL);
  end->folder_gone = count < 0;
  if (count <= 0) return;
  struct ended *table = memory_get((size_t)count, sizeof *table);
  for (int i = 0; i < count; i++) {
    char path[PATH_MAX + NAME_MAX + 2];
    snprintf(path, sizeof path, "%s/%s", outdir->path, entries[i]->d_name);
    struct outdir_name name = outdir_name_read(entries[i]->d_name);
    if (name.kind == OUTDIR_LOST) lost_add(end, path, &name);
    if (name.kind == OUTDIR_UNSEEN) unseen_add(end, path);
    if (name.kind == OUTDIR_REPORT) table[end->reports++] = ended_read(path, name.pid);
    free(entries[i]);
  }
  ended_sum(end, table);
  free(entries);
  free(table);
  running_count(end, outdir);
}

static const char *signal_name(int signal) {
  static char real_time[16];
  const char *name = sigabbrev_np(signal);
  if (!name) snprintf(real_time, sizeof real_time, "RTMIN+%d", signal - SIGRTMIN);
  return name ? name : real_time;
}

static void ending_say(const struct run_ending *ending) {
  if (ending->reason == HT_REASON_KILLED)
    complain("%s (pid %u): was killed; its last checkpoint is kept", ending->name, ending->pid);
  else
    complain("%s (pid %u): %s SIG%s", ending->name, ending->pid,
             ending->reason == HT_REASON_CRASH ? "crashed with" : "ended by", signal_name((int)ending->signal));
}

static void endings_say(const struct run_end *end) {
  for (unsigned i = 0; i < end->endings_count && i < RUN_ENDINGS_MAX; i++) ending_say(&end->endings[i]);
  if (end->endings_count > RUN_ENDINGS_MAX)
    complain("%u more processes did not end by themselves; heaptide report shows them",
             end->endings_count - RUN_ENDINGS_MAX);
}

void run_end_line(const struct run_end *end, const struct outdir *outdir, int signal, bool named) {
  if (!end->reports) return;
  char ending[64] = "", leaked[UNITS_TEXT], python[UNITS_TEXT], peak[UNITS_TEXT];
  char found[2 * UNITS_TEXT + 48] = "leaks not looked for";
  if (signal) snprintf(ending, sizeof ending, "ended by SIG%s, ", signal_name(signal));
  if (end->scanned) snprintf(found, sizeof found, "leaked %s", bytes_text(leaked, end->leaked_bytes));
  if (end->scanned && end->python_leaked_bytes >= PYTHON_LEAK_TOLD_BYTES)
    snprintf(found, sizeof found, "leaked %s and %s of Python objects", leaked,
             bytes_text(python, end->python_leaked_bytes));
  complain("%s%u process%s, %s, peak %s%s -> %s (heaptide report%s%s)", ending, end->processes,
           end->processes == 1 ? "" : "es", found, bytes_text(peak, end->peak_bytes),
           end->estimated ? ", estimated from a sample" : "", outdir->shown, named ? " " : "",
           named ? outdir->shown : "");
  endings_say(end);
}

void run_end_unseen(const struct run_end *end) {
  if (!end->unseen) return;
  const char *const *names = (const char *const *)end->unseen_names;
  char shown[RUN_END_NAMES * (PATH_MAX + 2)] = "";
  for (int i = 0; i < RUN_END_NAMES && names[i]; i++) {
    if (i) strcat(shown, ", ");
    strcat(shown, names[i]);
  }
  complain("%u child%s not followed: %s%s; static, setuid or foreign programs let no library in", end->unseen,
           end->unseen == 1 ? "" : "ren", shown, end->more_unseen ? ", ..." : "");
}

void run_end_running(const struct run_end *end, const struct outdir *outdir) {
  if (!end->running) return;
  bool one = end->running == 1;
  complain("%u process%s of CMD go%s on; %s will be in %s when %s", end->running, one ? "" : "es", one ? "es" : "",
           one ? "its report" : "their reports", outdir->shown, one ? "it has ended" : "they have ended");
}

void run_end_losses(const struct run_end *end, const struct outdir *outdir, int signal, bool silent) {
  if (end->lost)
    complain("%s: %u report%s could not be written: %s; make room and run again", outdir->shown, end->lost,
             end->lost == 1 ? "" : "s", strerror(end->lost_error));
  else if (end->folder_gone)
    complain("%s: the reports are lost: the folder is gone or cannot be read; run again with another --out",
             outdir->shown);
  else if (end->reports || end->running || silent)
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
