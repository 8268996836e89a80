// CMD of `heaptide run`, looked at before it is started.
#ifndef HT_TARGET_H
#define HT_TARGET_H

#include <limits.h>
#include <stdbool.h>

struct target {
  char path[PATH_MAX]; // the file that will be executed
  bool preload;        // the library and the session go into its environment
  bool silent;         // nothing of CMD itself will be recorded
  const char *reason;  // why less than everything is seen, in words; NULL: all is well
  bool doubtful;       // built for another machine: it may not run at all, and then the reason is another one
  bool shell_script;   // perhaps a script without `#!`, which execvp hands to the shell
  bool valgrind;       // CMD is, or runs under, Valgrind
};

// Finds the file that execvp would take for `command`. Returns 0, or the exit status that a shell gives: 126 when it
// is there but cannot be executed, 127 when it is not there; `error` then holds the errno.
int target_find(const char *command, struct target *target, int *error);

// Looks at target->path and fills in the rest.
void target_look(struct target *target);

#endif
