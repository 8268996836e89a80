#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_symbols.h"
#include "exec_look.h"

// 0 when `path` can be executed, else the errno that says why not.
static int execution_error(const char *path) {
  struct stat status;
  if (stat(path, &status) < 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? errno : 0;
}

static bool is_missing(int error) { return error == ENOENT || error == ENOTDIR; }

static int find_in_path(const char *command, struct target *target) {
  const char *path = getenv("PATH");
  if (!path) path = "/bin:/usr/bin"; // confstr(_CS_PATH), as execvp takes it
  int worst = ENOENT;
  for (;;) {
    size_t bytes = strcspn(path, ":");
    int length = snprintf(target->path, sizeof target->path, "%.*s%s%s", (int)bytes, path, bytes ? "/" : "", command);
    int error = length < (int)sizeof target->path ? execution_error(target->path) : ENAMETOOLONG;
    if (!error) return 0;
    if (error == EACCES) worst = EACCES; // execvp goes on looking, and says this in the end
    if (!path[bytes]) return worst;
    path += bytes + 1;
  }
}

int target_find(const char *command, struct target *target, int *error) {
  *target = (struct target){.preload = true};
  if (!command[0]) {
    *error = ENOENT;
  } else if (!strchr(command, '/')) {
    *error = find_in_path(command, target);
  } else if (strlen(command) >= sizeof target->path) {
    *error = ENAMETOOLONG;
  } else {
    memcpy(target->path, command, strlen(command) + 1);
    *error = execution_error(command);
  }
  if (!*error) return 0;
  return is_missing(*error) ? 127 : 126;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool under_valgrind(const char *path) {
  const char *preload = getenv("LD_PRELOAD");
  return strcmp(base_name(path), "valgrind") == 0 || (preload && strstr(preload, "vgpreload"));
}

// What stands in the way of loading the library at all.
static const char *look_reason(enum exec_look look) {
  switch (look) {
  case LOOK_STATIC:
    return "statically linked: heaptide cannot get into it and records nothing of it; link it dynamically";
  case LOOK_OTHER_MACHINE:
    return "built for another machine (32-bit or foreign): nothing of it was recorded; build it for this one";
  case LOOK_OTHER_LIBC:
    return "uses another C library than glibc: heaptide cannot get into it and records nothing of it; build it with "
           "glibc";
  case LOOK_SETID:
    return "setuid or setgid: the loader lets no library in and nothing of it is recorded; run a copy without these "
           "bits";
  case LOOK_CAPABILITIES:
    return "has file capabilities: the loader lets no library in and nothing of it is recorded; run a copy without "
           "them";
  case LOOK_FINE:
  case LOOK_UNKNOWN:
    return NULL;
  }
  return NULL;
}

// A definition in the executable itself comes before a preloaded library's.
static const char *symbols_reason(const char *program) {
  if (!elf_symbol_defined(program, SYMBOLS_DYNAMIC, "malloc")) return NULL;
  if (elf_symbol_defined(program, SYMBOLS_ALL, "__asan_init"))
    return "holds a static AddressSanitizer: its malloc comes first and heaptide sees nothing of its heap; "
           "link it with -shared-libasan (gcc: without -static-libasan)";
  return "brings its own malloc, linked into it: heaptide sees its mappings, and of its heap what that takes "
         "from the C library; link it without one";
}

void target_look(struct target *target) {
  char interpreter[EXEC_INTERPRETER_BYTES];
  enum exec_look look = exec_look(AT_FDCWD, target->path, interpreter);
  const char *program = interpreter[0] ? interpreter : target->path;
  target->valgrind = under_valgrind(target->path) || under_valgrind(program);
  target->preload = !exec_look_refuses_preload(look);
  target->reason = look_reason(look);
  target->silent = target->reason != NULL;
  target->doubtful = look == LOOK_OTHER_MACHINE;
  target->shell_script = look == LOOK_UNKNOWN;
  if (look == LOOK_FINE) target->reason = symbols_reason(program);
}
