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

// Fills in how the file is seen from here. False: it has no beginning or no code.
static bool module_is_whole(pid_t pid, struct process_module *module) {
  int length = snprintf(module->file, sizeof module->file, "/proc/%d/root%s", (int)pid, module->path);
  return length < (int)sizeof module->file && module->base && module->code;
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
  return module_is_whole(pid, found);
}

static void module_end(pid_t pid, struct process_module *module,
                       void (*visit)(const struct process_module *module, void *context), void *context) {
  if (module->path[0] == '/' && module_is_whole(pid, module)) visit(module, context);
}

void process_modules_each(pid_t pid, void (*visit)(const struct process_module *module, void *context), void *context) {
  char name[64], line[PATH_MAX + 128], path[PATH_MAX], rights[5];
  uint64_t start, end, offset;
  struct process_module module = {0};
  snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
  FILE *file = fopen(name, "re");
  while (file && fgets(line, sizeof line, file)) {
    if (!line_read(line, &start, &end, rights, &offset, path) || path[0] != '/') continue;
    if (strcmp(path, module.path) != 0) {
      module_end(pid, &module, visit, context);
      module = (struct process_module){0};
      memcpy(module.path, path, sizeof path);
    }
    mapping_take(&module, start, end, rights, offset);
  }
  module_end(pid, &module, visit, context);
  if (file) fclose(file);
}
