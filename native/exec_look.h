// Looks at a file that is about to be executed: can heaptide's library be loaded into it?
// Shared by the launcher and by the exec hooks: no allocation, no locks, no errno, one descriptor for a moment.
#ifndef HT_EXEC_LOOK_H
#define HT_EXEC_LOOK_H

#include <stdbool.h>

enum exec_look {
  LOOK_FINE,          // a program of this machine and libc
  LOOK_UNKNOWN,       // not there, not readable, or neither ELF nor `#!`: the kernel decides
  LOOK_STATIC,        // no dynamic loader: nothing can be preloaded; variables do no harm and reach its children
  LOOK_OTHER_MACHINE, // another ELF class or machine: its loader would complain about the library
  LOOK_OTHER_LIBC,    // another libc's loader: it would refuse to start with a glibc library
  LOOK_SETID,         // gains another user or group: the loader ignores LD_PRELOAD
  LOOK_CAPABILITIES,  // gains file capabilities: likewise
};

// linux/binfmts.h, BINPRM_BUF_SIZE: a `#!` line is cut there.
#define EXEC_INTERPRETER_BYTES 256

// Follows `#!` as the kernel does. `path` is relative to `directory_fd` (AT_FDCWD: the working folder).
// `interpreter`, unless NULL, takes EXEC_INTERPRETER_BYTES: the last interpreter of a script, "" for no script.
enum exec_look exec_look(int directory_fd, const char *path, char *interpreter);

// True when a program so described is better started without LD_PRELOAD and HEAPTIDE_SESSION.
bool exec_look_refuses_preload(enum exec_look look);

#endif
