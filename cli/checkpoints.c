#include "checkpoints.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "outdir.h"

// One process's two files and the name that its report would have.
struct checkpoint_files {
  char slots[2][PATH_MAX], report[PATH_MAX];
};

static bool is_checkpoint(const char *name, struct outdir_name *read) {
  *read = outdir_name_read(name);
  return read->kind == OUTDIR_CHECKPOINT;
}

static int is_checkpoint_entry(const struct dirent *entry) {
  struct outdir_name name;
  return is_checkpoint(entry->d_name, &name);
}

static bool files_name(struct checkpoint_files *files, const char *folder, const struct outdir_name *name) {
  char stem[64];
  if (name->image)
    snprintf(stem, sizeof stem, "heaptide.%llu-%llu", (unsigned long long)name->pid, (unsigned long long)name->image);
  else
    snprintf(stem, sizeof stem, "heaptide.%llu", (unsigned long long)name->pid);
  return snprintf(files->slots[0], PATH_MAX, "%s/.%s.live", folder, stem) < PATH_MAX &&
         snprintf(files->slots[1], PATH_MAX, "%s/.%s.live2", folder, stem) < PATH_MAX &&
         snprintf(files->report, PATH_MAX, "%s/%s.bin", folder, stem) < PATH_MAX;
}

static uint64_t end_ns(const struct report *report) {
  return report->process->started_unix_ns + report->process->duration_ns;
}

bool checkpoint_is_wanted(const struct report *checkpoint, const struct report *report) {
  bool replaced = report->process->reason == HT_REASON_SNAPSHOT && !(report->process->flags & HT_PROCESS_PERIODIC);
  return replaced && end_ns(checkpoint) > end_ns(report);
}

// The newer of the checkpoints that are whole; -1: none is.
static int checkpoint_load(const struct checkpoint_files *files, struct report *newest) {
  int slot = -1;
  for (int i = 0; i < 2; i++) {
    struct report report;
    struct problem problem;
    if (!report_load(files->slots[i], &report, &problem)) continue;
    bool newer = slot < 0 || end_ns(&report) > end_ns(newest);
    if (slot >= 0) report_free(newer ? newest : &report);
    if (newer) *newest = report, slot = i;
  }
  return slot;
}

// A report that cannot be read stays, for its reader to say so.
static bool is_wanted(const struct report *checkpoint, const char *path) {
  struct report report;
  struct problem problem;
  if (access(path, F_OK) < 0) return true;
  if (!report_load(path, &report, &problem)) return false;
  bool wanted = checkpoint_is_wanted(checkpoint, &report);
  report_free(&report);
  return wanted;
}

static void process_settle(const struct checkpoint_files *files) {
  struct report checkpoint;
  int slot = checkpoint_load(files, &checkpoint);
  if (slot >= 0) {
    if (is_wanted(&checkpoint, files->report)) rename(files->slots[slot], files->report);
    report_free(&checkpoint);
  }
  unlink(files->slots[0]);
  unlink(files->slots[1]);
}

void checkpoints_settle(const char *folder) {
  struct dirent **entries;
  int count = scandir(folder, &entries, is_checkpoint_entry, NULL);
  for (int i = 0; i < count; i++) {
    struct outdir_name name;
    struct checkpoint_files files;
    bool gone = is_checkpoint(entries[i]->d_name, &name) && kill((pid_t)name.pid, 0) < 0;
    if (gone && files_name(&files, folder, &name)) process_settle(&files);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}
