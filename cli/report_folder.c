#include "report_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "memory.h"
#include "outdir.h"
#include "pid_namespace.h"
#include "process_life.h"

#define NAME_START "heaptide."

// A report, or a checkpoint of a process that left none.
static bool is_wanted(const struct outdir_name *name) {
  return name->kind == OUTDIR_REPORT || name->kind == OUTDIR_CHECKPOINT;
}

static void path_add(struct report_paths *found, char *path, uint32_t pid) {
  size_t capacity = found->capacity;
  found->paths = memory_grow(found->paths, found->count, &found->capacity, sizeof *found->paths);
  found->pids = memory_grow(found->pids, found->count, &capacity, sizeof *found->pids);
  found->pids[found->count] = pid;
  found->paths[found->count++] = path;
}

static int is_report_name(const struct dirent *entry) {
  struct outdir_name name = outdir_name_read(entry->d_name);
  return is_wanted(&name);
}

static int number_compare(uint64_t one, uint64_t other) { return one < other ? -1 : one > other; }

// By pid and image; a report comes before the checkpoints.
static int name_compare(const struct dirent **left, const struct dirent **right) {
  struct outdir_name one = outdir_name_read((*left)->d_name), other = outdir_name_read((*right)->d_name);
  int order = number_compare(one.pid, other.pid);
  if (!order) order = number_compare(one.image, other.image);
  return order ? order : number_compare(one.kind, other.kind);
}

static bool is_empty(const char *path) {
  struct stat status;
  return stat(path, &status) != 0 || status.st_size == 0;
}

static bool goes_on(const char *folder, uint64_t pid) {
  pid_t ours = pid_outside(folder, pid);
  return ours && !process_has_ended((uint32_t)ours);
}

// Of a process that goes on its report counts, the last snapshot, and where it has none the checkpoints; of one that
// has ended all of them. An empty checkpoint only says that a process was there.
static void entry_add(struct report_paths *found, const char *folder, const char *entry, struct outdir_name *last) {
  struct outdir_name name = outdir_name_read(entry);
  bool same = last->kind == OUTDIR_REPORT && name.pid == last->pid && name.image == last->image;
  if (name.kind == OUTDIR_REPORT) *last = name;
  if (name.kind == OUTDIR_CHECKPOINT && same && goes_on(folder, name.pid)) return;
  char *path = memory_format("%s/%s", folder, entry);
  if (name.kind == OUTDIR_CHECKPOINT && is_empty(path))
    free(path);
  else
    path_add(found, path, (uint32_t)name.pid);
}

bool report_path_is_checkpoint(const char *path) {
  const char *slash = strrchr(path, '/');
  return outdir_name_read(slash ? slash + 1 : path).kind == OUTDIR_CHECKPOINT;
}

bool report_paths_find(const char *folder, struct report_paths *found, struct problem *problem) {
  struct dirent **entries;
  struct stat status;
  *found = (struct report_paths){0};
  if (stat(folder, &status) != 0)
    return problem_set(problem, "name a folder that heaptide run made", "%s", strerror(errno));
  if (!S_ISDIR(status.st_mode)) {
    path_add(found, memory_format("%s", folder), 0);
    return true;
  }
  int count = scandir(folder, &entries, is_report_name, name_compare);
  if (count < 0) return problem_set(problem, "check its rights", "cannot be read: %s", strerror(errno));
  struct outdir_name last = {0};
  for (int i = 0; i < count; i++) {
    entry_add(found, folder, entries[i]->d_name, &last);
    free(entries[i]);
  }
  free(entries);
  return found->count > 0 || problem_set(problem, "name a folder that heaptide run made", "holds no report");
}

void report_paths_free(struct report_paths *found) {
  for (size_t i = 0; i < found->count; i++) free(found->paths[i]);
  free(found->paths);
  free(found->pids);
  *found = (struct report_paths){0};
}

static bool is_newer(const struct timespec *one, const struct timespec *other) {
  return one->tv_sec != other->tv_sec ? one->tv_sec > other->tv_sec : one->tv_nsec > other->tv_nsec;
}

// True when `folder` is one and holds a report; *at is when its entries last changed.
static bool folder_look(const char *folder, struct timespec *at) {
  struct stat status;
  struct report_paths found;
  struct problem problem;
  if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode) || !report_paths_find(folder, &found, &problem))
    return false;
  report_paths_free(&found);
  *at = status.st_mtim;
  return true;
}

char *report_folder_newest(void) {
  DIR *here = opendir(".");
  char *newest = NULL;
  struct timespec newest_at = {0}, at;
  for (struct dirent *entry; here && (entry = readdir(here));) {
    if (strncmp(entry->d_name, NAME_START, strlen(NAME_START)) != 0 || !folder_look(entry->d_name, &at)) continue;
    if (newest && !is_newer(&at, &newest_at)) continue;
    free(newest);
    newest = memory_format("%s", entry->d_name);
    newest_at = at;
  }
  if (here) closedir(here);
  return newest;
}
