// Where Python's hooks start: a constructor, after native's own.

#include "../native/core.h"
#include "../native/session.h"
#include "hook_python.h"
#include "line_table.h"
#include "object_count.h"
#include "object_map.h"
#include "python_report.h"

// Pools hold blocks of one size class: POOL_SIZE, Objects/obmalloc.c (3.9) and Include/internal/pycore_obmalloc.h.
#define POOL_BITS_3_9 12
#define POOL_BITS 14

static bool is_wanted(void) {
  static struct session session; // too large for the stack
  return thread_recording() && session_read(&session) && session.py;
}

static void fork_child(void) {
  pair_fork_child();
  line_fork_child();
  python_report_fork_child();
}

static void start(void) {
  object_map_init(python.minor == 9 ? POOL_BITS_3_9 : POOL_BITS);
  ht_add_report_hook(python_report_fold);
  ht_add_fork_hook(fork_child);
  hook_python_install(true);
}

__attribute__((constructor)) static void python_constructor(void) {
  if (!is_wanted()) return;
  switch (python_api_find()) {
  case PYTHON_FOUND:
    if (frame_layout_set(python.minor, python.runtime)) {
      start();
      break;
    }
    __attribute__((fallthrough));
  case PYTHON_UNSUPPORTED:
    python_report_note("This Python is not one that --py knows (CPython 3.9 to 3.14 with a GIL): its memory is shown "
                       "as native code's.");
    break;
  case PYTHON_ABSENT:
    break;
  }
}
