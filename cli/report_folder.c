#include "report_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "memory.h"

#define NAME_START "heaptide."

// Reads decimal digits; NULL: there are none, or too many.
static const char *number_take(const char *at, uint32_t *number) {
  char *end;
  if (!isdigit((unsigned char)*at)) return NULL;
  unsigned long value = strtoul(at, &end, 10);
  *number = (uint32_t)value;
  return value <= UINT32_MAX ? end : NULL;
}

// heaptide.PID.bin or heaptide.PID-N.bin
static bool name_parse(const char *name, uint32_t *pid, uint32_t *image) {
  if (strncmp(name, NAME_START, strlen(NAME_START)) != 0) return false;
  const char *at = number_take(name + strlen(NAME_START), pid);
  *image = 0;
  if (at && *at == '-') at = number_take(at + 1, image);
  return at && strcmp(at, ".bin") == 0;
}

static void path_add(struct report_paths *found, char *path, uint32_t pid) {
  size_t capacity = found->capacity;
  found->paths = memory_grow(found->paths, found->count, &found->capacity, sizeof *found->paths);
  found->pids = memory_grow(found->pids, found->count, &capacity, sizeof *found->pids);
  found->pids[found->count] = pid;
  found->paths[found->count++] = path;
}

static int is_report_name(const struct dirent *entry) {
  uint32_t pid, image;
  return name_parse(entry->d_name, &pid, &image);
}

static int name_compare(const struct dirent **left, const struct dirent **right) {
  uint32_t pids[2], images[2];
  name_parse((*left)->d_name, &pids[0], &images[0]);
  name_parse((*right)->d_name, &pids[1], &images[1]);
  if (pids[0] != pids[1]) return pids[0] < pids[1] ? -1 : 1;
  return images[0] < images[1] ? -1 : images[0] > images[1];
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
  for (int i = 0; i < count; i++) {
    uint32_t pid, image;
    name_parse(entries[i]->d_name, &pid, &image);
    path_add(found, memory_format("%s/%s", folder, entries[i]->d_name), pid);
    free(entries[i]);
  }
  free(entries);
  return count > 0 || problem_set(problem, "name a folder that heaptide run made", "holds no report");
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
