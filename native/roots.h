// What keeps blocks alive without being a block: where the leak scan starts.
#ifndef HT_ROOTS_H
#define HT_ROOTS_H

#include "maps.h"
#include "scan.h"
#include "stop.h"
#include "words.h"

enum root_kind {
  ROOT_MAPPING,   // data of modules, and writable memory that nobody recorded
  ROOT_STACK,     // the part of a thread's stack that is in use, with its thread-local storage above
  ROOT_REGISTERS, // a copy in own memory
  ROOT_START,     // arguments of threads that are being born
  ROOT_INHERITED, // mappings of the parent's, after fork
};

struct root {
  uintptr_t start, end;
  uint32_t kind; // enum root_kind
  uint32_t tid;  // stacks, registers: whose
};

struct roots {
  struct root *table;
  uint32_t count, capacity;
  bool complete; // false: no memory for some of them
};

// Collects the roots of the process: from its maps, from the threads that are stopped (stop.h), and from the calling
// thread as it was at `origin`. Between live_scan_begin, stop_begin, resident_begin and their ends, under
// guard_run. `maps` was read after own memory for the scan was mapped.
void roots_collect(struct roots *roots, const struct maps *maps, const struct scan_origin *origin);
void roots_drop(struct roots *roots);

// A thread that roots_collect knew, for naming what holds a block.
struct root_thread {
  uint32_t tid;
  uintptr_t stack_pointer, thread_pointer; // 0: unknown
  const struct stop_thread *stopped;       // NULL: the calling thread
};
// Calls `visit` for the calling thread and each stopped one that lives.
void roots_each_thread(const struct scan_origin *origin, void (*visit)(const struct root_thread *, void *context),
                       void *context);

#endif
