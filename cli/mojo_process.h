// What is special about the processes of Mojo programs.
#ifndef HT_MOJO_PROCESS_H
#define HT_MOJO_PROCESS_H

#include "model.h"

// What Mojo's compiler at run time hides from this report, a sentence; NULL: nothing.
const char *mojo_process_note(const struct report *report);

// What tells a process that Mojo's runtime started for itself, read from its report.
struct mojo_process {
  uint32_t pid, ppid;
  bool main, mojo, health_check, crash_handler;
};
struct mojo_process mojo_process_of(const struct report *report);

// For each of `count` processes whether Mojo's runtime started it for itself: the health check of a GPU, with all that
// it starts, and the crash handler. New memory, the caller frees it.
bool *mojo_helpers_find(const struct mojo_process *processes, size_t count);

#endif
