// Calls functions inside another process, in one of its own threads.
//
// The thread is stopped by ptrace where it is in neither the allocator nor the loader, which could not be entered again
// there; the other threads run on. The call has a stack of its own, every signal waits, and afterwards the thread goes
// on where it was, asleep in the same system call if it was in one. No code is written.
#ifndef HT_INJECT_H
#define HT_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "problem.h"
#include "process_maps.h"

struct inject;

// Stops a thread of `pid`. NULL: `problem` says why.
struct inject *inject_begin(pid_t pid, struct problem *problem);
// Lets it go on.
void inject_end(struct inject *inject);

// Copies `bytes` into the process; returns where they lie there until inject_end. 0: no room.
uint64_t inject_put(struct inject *inject, const void *data, size_t bytes);
// Reads memory of a process that may be stopped or not. False: it has ended, or may not be looked at.
bool inject_read(pid_t pid, uint64_t address, void *into, size_t bytes);
// Reads a string there, cut at `capacity`.
void inject_string(struct inject *inject, uint64_t address, char *text, size_t capacity);

// Calls the function at `address` with up to three arguments. False: it crashed, the process ended, or it took longer
// than a minute; `problem` says which, and nothing else must be called but inject_end.
bool inject_call(struct inject *inject, uint64_t address, const uint64_t arguments[3], uint64_t *result,
                 struct problem *problem);

// The address in the process of a function that the C library exports; 0: none.
uint64_t inject_libc(struct inject *inject, const char *name);

// heaptide's library in a process, from its file or from memory that was handed over under MEMFD_NAME. False: not
// there.
#define LIBRARY_NAME "libheaptide.so"
#define MEMFD_NAME "heaptide-attached"
bool inject_library_find(pid_t pid, struct process_module *module);

// Where the process has `name` of heaptide's library; 0: it has none, or an older one. `library`: the library's file as
// we have it, for one that was handed over as memory.
uint64_t inject_library_symbol(pid_t pid, const char *library, const char *name);

#endif
