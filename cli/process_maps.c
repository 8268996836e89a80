#include "process_maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// "start-end rwxp offset dev inode   path" of /proc/PID/maps (proc_pid_maps(5)).
static bool line_read(const char *line, uint64_t *start, uint64_t *end, char rights[5], uint64_t *offset,
                      char path[PATH_MAX]) {
  unsigned long long from, to, at;
  int path_at = 0;
  if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &from, &to, rights, &at, &path_at) < 4 || !path_at) return false;
  *start = from, *end = to, *offset = at;
  snprintf(path, PATH_MAX, "%s", line + path_at);
  path[strcspn(path, "\n")] = 0;
  return true;
}

static void mapping_take(struct process_module *found, uint64_t start, uint64_t end, const char *rights,
                         uint64_t offset) {
  if (offset == 0 && !found->base) found->base = start;
  if (rights[2] != 'x' || found->code) return;
  found->code = start;
  found->end = end;
}

bool process_module_find(pid_t pid, const char *part, struct process_module *found) {
  char name[64], line[PATH_MAX + 128], path[PATH_MAX], rights[5];
  uint64_t start, end, offset;
  *found = (struct process_module){0};
  snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
  FILE *file = fopen(name, "re");
  if (!file) return false;
  while (fgets(line, sizeof line, file)) {
    if (!line_read(line, &start, &end, rights, &offset, path)) continue;
    if (found->path[0] ? strcmp(path, found->path) != 0 : !strstr(path, part)) continue;
    memcpy(found->path, path, sizeof path);
    mapping_take(found, start, end, rights, offset);
  }
  errno = ferror(file) ? EACCES : 0;
  fclose(file);
  if (snprintf(found->file, sizeof found->file, "/proc/%d/root%s", (int)pid, found->path) >= (int)sizeof found->file)
    return false;
  return found->base && found->code;
}
