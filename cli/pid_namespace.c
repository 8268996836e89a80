#include "pid_namespace.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// "pid:[4026531836]" (pid_namespaces(7)).
#define NAMESPACE_BYTES 64

static bool link_read(const char *path, char text[NAMESPACE_BYTES]) {
  ssize_t bytes = readlink(path, text, NAMESPACE_BYTES - 1);
  text[bytes > 0 ? bytes : 0] = 0;
  return bytes > 0;
}

static bool namespace_of(const char *pid, char text[NAMESPACE_BYTES]) {
  char path[300];
  snprintf(path, sizeof path, "/proc/%s/ns/pid", pid);
  return link_read(path, text);
}

// The last number of the line `NSpid:` (proc_pid_status(5)).
static pid_t innermost(const char *pid) {
  char path[300], line[512];
  pid_t found = 0;
  snprintf(path, sizeof path, "/proc/%s/status", pid);
  FILE *file = fopen(path, "re");
  while (file && !found && fgets(line, sizeof line, file))
    if (strncmp(line, "NSpid:", 6) == 0) found = (pid_t)atoi(strrchr(line, '\t') + 1);
  if (file) fclose(file);
  return found;
}

pid_t pid_inside(pid_t pid) {
  char text[16];
  snprintf(text, sizeof text, "%d", (int)pid);
  pid_t found = innermost(text);
  return found ? found : pid;
}

bool pid_namespace_note(const char *folder, pid_t pid) {
  char path[PATH_MAX], text[16], its[NAMESPACE_BYTES], own[NAMESPACE_BYTES];
  snprintf(text, sizeof text, "%d", (int)pid);
  if (!namespace_of(text, its) || !namespace_of("self", own) || strcmp(its, own) == 0) return true;
  return snprintf(path, sizeof path, "%s/" NAMESPACE_LINK, folder) < PATH_MAX && symlink(its, path) == 0;
}

static pid_t search(const char *wanted, uint64_t pid) {
  char its[NAMESPACE_BYTES];
  pid_t found = 0;
  DIR *processes = opendir("/proc");
  for (struct dirent *entry; processes && !found && (entry = readdir(processes));) {
    const char *name = entry->d_name;
    if (name[0] < '0' || name[0] > '9' || !namespace_of(name, its) || strcmp(its, wanted) != 0) continue;
    if ((uint64_t)innermost(name) == pid) found = (pid_t)atoi(name);
  }
  if (processes) closedir(processes);
  return found;
}

pid_t pid_outside(const char *folder, uint64_t pid) {
  char path[PATH_MAX], wanted[NAMESPACE_BYTES], own[NAMESPACE_BYTES];
  bool noted = snprintf(path, sizeof path, "%s/" NAMESPACE_LINK, folder) < PATH_MAX && link_read(path, wanted);
  bool elsewhere = noted && namespace_of("self", own) && strcmp(own, wanted) != 0;
  return elsewhere ? search(wanted, pid) : (pid_t)pid;
}
