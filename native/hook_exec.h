// exec* and posix_spawn*: the next program is traced too, also when the caller rebuilt its environment.
// Environment inheritance covers what cannot be interposed (system, popen, raw system calls).
#ifndef HT_HOOK_EXEC_H
#define HT_HOOK_EXEC_H

#include <stdbool.h>

#include "scan.h"
#include "session.h"

// Called once by the recorder's init, before threads, also where this process itself is not recorded. Before it, or
// without a session, the hooks pass everything through unchanged.
void hook_exec_init(const struct session *session);

// Programs that are started from now on are not traced: detach.
void hook_exec_stop(void);

// In a fork child, once it runs as a process of its own: from here on its exec is a real one. A child that never
// calls this is taken for a vfork child, which shares its parent's memory.
void hook_exec_fork_child(void);

// Defined by the recorder. Called before the process's own exec (never in a vfork child, never for posix_spawn),
// when the file to execute is there: writes the report of the image that ends. True: a report was written, the next
// image gets the next number. `origin`: where the program entered the hook.
bool exec_prepare(const struct scan_origin *origin);
// Defined by the recorder. After exec_prepare, when exec failed after all: takes the report back where one was written.
void exec_failed(bool reported);

#endif
