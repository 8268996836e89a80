// Where Python's hooks start: a constructor, after native's own.

#include <string.h>

#include "../native/core.h"
#include "../native/report.h"
#include "../native/session.h"
#include "hook_python.h"
#include "line_table.h"
#include "object_count.h"
#include "object_map.h"
#include "object_scan.h"
#include "python_report.h"
#include "table_lock.h"

// Pools hold blocks of one size class: POOL_SIZE, Objects/obmalloc.c (3.9) and Include/internal/pycore_obmalloc.h.
#define POOL_BITS_3_9 12
#define POOL_BITS 14

// The library is initialized before libc has set `environ`.
static bool is_wanted(char **environment) {
  static struct session session; // too large for the stack
  size_t length = sizeof SESSION_VARIABLE - 1;
  while (*environment && (strncmp(*environment, SESSION_VARIABLE, length) != 0 || (*environment)[length] != '='))
    environment++;
  return thread_recording() && *environment && session_parse(*environment + length + 1, &session) && session.py;
}

static void fork_child(void) {
  table_lock_fork_child();
  pair_fork_child();
  line_fork_child();
  python_report_fork_child();
}

static void start(void) {
  object_map_init(python.minor == 9 ? POOL_BITS_3_9 : POOL_BITS);
  ht_add_report_hook(python_report_fold);
  ht_add_fork_hook(fork_child);
  object_scan_init();
  count_live_source = python_report_live_add;
  report_flags_add(HT_PROCESS_PYTHON);
  hook_python_install(true);
}

__attribute__((constructor)) static void python_constructor(int argc, char **argv, char **environment) {
  (void)argc, (void)argv;
  if (!is_wanted(environment)) return;
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
