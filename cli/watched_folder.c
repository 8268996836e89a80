#include "watched_folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject.h"
#include "library.h"
#include "problem.h"
#include "process_life.h"
#include "session.h"
#include "traced.h"

static bool holds(const char *folder, pid_t pid) {
  struct traced_list list;
  bool found = false;
  if (!traced_find(folder, &list)) return false;
  for (size_t i = 0; i < list.count; i++) found |= list.table[i].pid == pid;
  traced_free(&list);
  return found;
}

// Of a process that was started under `heaptide run`: what its environment said when it was executed.
static bool by_environment(pid_t pid, char folder[PATH_MAX]) {
  static struct session session;
  char path[64], *variable = NULL;
  size_t capacity = 0;
  bool found = false;
  snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
  FILE *file = fopen(path, "re");
  while (file && !found && getdelim(&variable, &capacity, 0, file) > 0)
    found = strncmp(variable, SESSION_VARIABLE "=", sizeof SESSION_VARIABLE) == 0 &&
            session_parse(variable + sizeof SESSION_VARIABLE, &session) && holds(session.out, pid);
  if (found) snprintf(folder, PATH_MAX, "%s", session.out);
  if (file) fclose(file);
  free(variable);
  return found;
}

// What the recorder in it knows: also of one that was attached to.
static bool by_recorder(pid_t pid, char folder[PATH_MAX]) {
  static struct library library;
  uint64_t pointer, folder_at;
  if (!library_find(&library)) return false;
  pointer = inject_library_symbol(pid, library.path, "ht_folder");
  if (!pointer || !inject_read(pid, pointer, &folder_at, sizeof folder_at) || !folder_at) return false;
  return inject_read(pid, folder_at, folder, PATH_MAX) && memchr(folder, 0, PATH_MAX) && holds(folder, pid);
}

// Without the right to look into it: attach makes its folder where it is called.
static bool by_search(const char *where, pid_t pid, char folder[PATH_MAX]) {
  bool found = false;
  DIR *directory = opendir(where);
  for (struct dirent *entry; directory && !found && (entry = readdir(directory));) {
    if (strncmp(entry->d_name, "heaptide.", 9) != 0) continue;
    int length = snprintf(folder, PATH_MAX, "%s/%s", where, entry->d_name);
    found = length < PATH_MAX && holds(folder, pid);
  }
  if (directory) closedir(directory);
  return found;
}

bool watched_folder(pid_t pid, char folder[PATH_MAX]) {
  char its[64];
  snprintf(its, sizeof its, "/proc/%d/cwd", (int)pid);
  if (by_environment(pid, folder) || by_recorder(pid, folder) || by_search(".", pid, folder) ||
      by_search(its, pid, folder))
    return true;
  if (!process_has_ended((uint32_t)pid))
    complain("%d: no folder was found that it is recorded into; name that folder: heaptide top DIR", (int)pid);
  else
    complain("%d: no such process; look for it with ps", (int)pid);
  return false;
}
