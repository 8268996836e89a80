#include "process_maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct mapping {
  uint64_t start, end, offset;
  char rights[5];
  char path[PATH_MAX];
};

static FILE *maps_open(pid_t pid) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
  return fopen(name, "re");
}

// "start-end rwxp offset dev inode   path" of /proc/PID/maps (proc_pid_maps(5)).
static bool line_read(const char *line, struct mapping *mapping) {
  unsigned long long from, to, at;
  int path_at = 0;
  if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &from, &to, mapping->rights, &at, &path_at) < 4 || !path_at)
    return false;
  mapping->start = from, mapping->end = to, mapping->offset = at;
  snprintf(mapping->path, PATH_MAX, "%s", line + path_at);
  mapping->path[strcspn(mapping->path, "\n")] = 0;
  return true;
}

// False: there is none any more, or it cannot be read.
static bool mapping_next(FILE *maps, struct mapping *mapping) {
  char line[PATH_MAX + 128];
  while (fgets(line, sizeof line, maps))
    if (line_read(line, mapping)) return true;
  return false;
}

static void mapping_take(struct process_module *found, const struct mapping *mapping) {
  if (mapping->offset == 0 && !found->base) found->base = mapping->start;
  if (mapping->rights[2] != 'x' || found->code) return;
  found->code = mapping->start;
  found->end = mapping->end;
}

// Fills in how the file is seen from here. False: it has no beginning or no code.
static bool module_is_whole(pid_t pid, struct process_module *module) {
  int length = snprintf(module->file, sizeof module->file, "/proc/%d/root%s", (int)pid, module->path);
  return length < (int)sizeof module->file && module->base && module->code;
}

bool process_module_find(pid_t pid, const char *part, struct process_module *found) {
  struct mapping mapping;
  *found = (struct process_module){0};
  FILE *maps = maps_open(pid);
  if (!maps) return false;
  while (mapping_next(maps, &mapping)) {
    if (found->path[0] ? strcmp(mapping.path, found->path) != 0 : !strstr(mapping.path, part)) continue;
    memcpy(found->path, mapping.path, sizeof mapping.path);
    mapping_take(found, &mapping);
  }
  errno = ferror(maps) ? EACCES : 0;
  fclose(maps);
  return module_is_whole(pid, found);
}

static void module_end(pid_t pid, struct process_module *module,
                       void (*visit)(const struct process_module *module, void *context), void *context) {
  if (module->path[0] == '/' && module_is_whole(pid, module)) visit(module, context);
}

void process_modules_each(pid_t pid, void (*visit)(const struct process_module *module, void *context), void *context) {
  struct mapping mapping;
  struct process_module module = {0};
  FILE *maps = maps_open(pid);
  while (maps && mapping_next(maps, &mapping)) {
    if (mapping.path[0] != '/') continue;
    if (strcmp(mapping.path, module.path) != 0) {
      module_end(pid, &module, visit, context);
      module = (struct process_module){0};
      memcpy(module.path, mapping.path, sizeof mapping.path);
    }
    mapping_take(&module, &mapping);
  }
  module_end(pid, &module, visit, context);
  if (maps) fclose(maps);
}

bool process_program_path(pid_t pid, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
  ssize_t bytes = readlink(link, path, PATH_MAX - 1);
  path[bytes > 0 ? bytes : 0] = 0;
  return bytes > 0;
}
