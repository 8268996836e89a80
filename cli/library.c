#include "library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

// This executable's path. Without /proc the name that it was started by has to do.
static bool own_path(char *path) {
  ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (bytes > 0) {
    path[bytes] = 0;
    return true;
  }
  const char *started_as = (const char *)getauxval(AT_EXECFN);
  return started_as && realpath(started_as, path);
}

bool library_find(struct library *library) {
  static const char *const places[] = {"libheaptide.so", "../lib/heaptide/libheaptide.so"};
  char own[PATH_MAX], candidate[PATH_MAX];
  *library = (struct library){0};
  if (!own_path(own)) return false;
  char *slash = strrchr(own, '/');
  if (slash) slash[1] = 0;
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    if (snprintf(candidate, sizeof candidate, "%s%s", own, places[i]) < (int)sizeof candidate &&
        realpath(candidate, library->path) && access(library->path, R_OK) == 0)
      return true;
  return false;
}

static bool splits(const char *path) { return path[strcspn(path, " :$")] != 0; }

bool library_link(struct library *library) {
  if (!splits(library->path)) {
    memcpy(library->preload, library->path, sizeof library->preload);
    return true;
  }
  const char *temporary = getenv("TMPDIR");
  if (!temporary || temporary[0] != '/' || splits(temporary) || strlen(temporary) > PATH_MAX - 64) temporary = "/tmp";
  snprintf(library->folder, sizeof library->folder, "%.*s/heaptide.XXXXXX", PATH_MAX - 64, temporary);
  if (!mkdtemp(library->folder)) {
    library->folder[0] = 0;
    return false;
  }
  snprintf(library->preload, sizeof library->preload, "%.*s/libheaptide.so", PATH_MAX - 32, library->folder);
  if (symlink(library->path, library->preload) == 0) return true;
  int error = errno;
  rmdir(library->folder);
  library->folder[0] = 0;
  errno = error;
  return false;
}

void library_unlink(const struct library *library) {
  if (!library->folder[0]) return;
  unlink(library->preload);
  rmdir(library->folder);
}
