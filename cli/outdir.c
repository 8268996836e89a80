#include "outdir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "pid_namespace.h"
#include "problem.h"
#include "snapshot_request.h"
#include "text.h"

// Of a program's name in a folder's name: file names end at 255 bytes, and pid and counter need room.
#define PROGRAM_BYTES_MAX 200
// Folders of the same name (a container hands out the same pids again and again) before giving up.
#define SAME_NAME_MAX 10000

// Skips `prefix` and a number behind it. False: not there.
static bool skip_number(const char **at, const char *prefix, uint64_t *number) {
  size_t bytes = strlen(prefix);
  if (strncmp(*at, prefix, bytes) != 0) return false;
  size_t digits = strspn(*at + bytes, "0123456789");
  if (!text_decimal(*at + bytes, digits, number)) return false;
  *at += bytes + digits;
  return true;
}

struct outdir_name outdir_name_read(const char *name) {
  struct outdir_name read = {0};
  uint64_t pid;
  bool hidden = name[0] == '.';
  const char *at = name + hidden;
  if (strcmp(name, NAMESPACE_LINK) == 0) read.kind = OUTDIR_NAMESPACE;
  if (!skip_number(&at, "heaptide.", &pid)) return read;
  skip_number(&at, "-", &read.image);
  if (!hidden && strcmp(at, ".bin") == 0)
    read.kind = OUTDIR_REPORT;
  else if (hidden && strcmp(at, ".tmp") == 0)
    read.kind = OUTDIR_UNFINISHED;
  else if (!hidden && strcmp(at, ".unseen") == 0)
    read.kind = OUTDIR_UNSEEN;
  else if (hidden && (strcmp(at, ".live") == 0 || strcmp(at, ".live2") == 0))
    read.kind = OUTDIR_CHECKPOINT;
  else if (hidden && strcmp(at, REQUEST_SUFFIX) == 0)
    read.kind = OUTDIR_REQUEST;
  else if (!hidden && skip_number(&at, ".lost.", &read.error) && !*at)
    read.kind = OUTDIR_LOST;
  if (read.kind) read.pid = pid;
  return read;
}

static bool refuse(const char *path, int error) {
  complain("%s: the output folder cannot be used: %s; name another one with --out", path, strerror(error));
  return false;
}

// Makes `path` and the folders above it. Returns 0 or an errno; `made`: the last one was not there.
static int make_path(const char *path, bool *made) {
  char part[PATH_MAX];
  size_t bytes = strlen(path);
  for (size_t end = 1; end <= bytes; end++) {
    if (path[end] != '/' && path[end]) continue;
    memcpy(part, path, end);
    part[end] = 0;
    *made = mkdir(part, 0777) == 0;
    if (!*made && errno != EEXIST && (access(part, F_OK) < 0 || !path[end])) return errno;
  }
  return 0;
}

// Only making a file shows whether one can be made: rights, read-only and pseudo file systems all have a say.
static int writing_error(const char *path) {
  char file[PATH_MAX];
  if (snprintf(file, sizeof file, "%s/.heaptide.%d", path, (int)getpid()) >= (int)sizeof file) return ENAMETOOLONG;
  if (mknod(file, S_IFREG | 0600, 0) < 0) // open would need a descriptor, and CMD may have a limit on those
    return errno;
  unlink(file);
  return 0;
}

// Removes what is left of earlier runs. Returns 0, EEXIST when that would be a report and may not go, or an errno.
static int leftovers_remove(const char *path, bool reports_too) {
  DIR *directory = opendir(path);
  if (!directory) return errno;
  int error = 0;
  for (struct dirent *entry; !error && !reports_too && (entry = readdir(directory));)
    if (outdir_name_read(entry->d_name).kind == OUTDIR_REPORT) error = EEXIST;
  rewinddir(directory);
  for (struct dirent *entry; !error && (entry = readdir(directory));)
    if (outdir_name_read(entry->d_name).kind && unlinkat(dirfd(directory), entry->d_name, 0) < 0) error = errno;
  closedir(directory);
  return error;
}

static bool take_named(struct outdir *outdir, const char *wanted, bool overwrite) {
  if (strlen(wanted) >= sizeof outdir->shown) return refuse(wanted, ENAMETOOLONG);
  snprintf(outdir->shown, sizeof outdir->shown, "%s", wanted);
  int error = make_path(wanted, &outdir->made);
  if (error) return refuse(wanted, error);
  error = leftovers_remove(wanted, overwrite);
  if (error == EEXIST) {
    complain("%s: holds reports of an earlier run; name another folder or add --overwrite", wanted);
    return false;
  }
  return !error || refuse(wanted, error);
}

static bool take_new(struct outdir *outdir, const char *program, int pid) {
  size_t bytes = strlen(program);
  if (bytes > PROGRAM_BYTES_MAX) bytes = PROGRAM_BYTES_MAX;
  while (bytes < strlen(program) && bytes && (program[bytes] & 0xc0) == 0x80) bytes--; // not inside a UTF-8 character
  int length = snprintf(outdir->shown, sizeof outdir->shown, "heaptide.%.*s.%d", (int)bytes, program, pid);
  for (int again = 2; mkdir(outdir->shown, 0777) < 0; again++) {
    if (errno != EEXIST || again > SAME_NAME_MAX) return refuse(outdir->shown, errno);
    snprintf(outdir->shown + length, sizeof outdir->shown - (size_t)length, "-%d", again);
  }
  outdir->made = true;
  return true;
}

bool outdir_take(struct outdir *outdir, const char *wanted, const char *program, int pid, bool overwrite) {
  *outdir = (struct outdir){0};
  if (!(wanted ? take_named(outdir, wanted, overwrite) : take_new(outdir, program, pid))) return false;
  int error = realpath(outdir->shown, outdir->path) ? writing_error(outdir->path) : errno;
  if (!error) return true;
  outdir_drop_empty(outdir);
  return refuse(outdir->shown, error);
}

void outdir_drop_empty(const struct outdir *outdir) {
  char link[PATH_MAX + sizeof NAMESPACE_LINK + 1];
  snprintf(link, sizeof link, "%s/" NAMESPACE_LINK, outdir->path);
  if (outdir->made && outdir->path[0]) unlink(link);
  if (outdir->made)
    rmdir(outdir->path[0] ? outdir->path : outdir->shown); // fails where something is in it, as it should
}
