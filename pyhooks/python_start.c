// Where Python's hooks start: a constructor, after native's own.

#include <string.h>

#include "../native/core.h"
#include "../native/owner.h"
#include "../native/report.h"
#include "../native/session.h"
#include "autograd_library.h"
#include "behalf_lines.h"
#include "detour.h"
#include "hook_autograd.h"
#include "hook_python.h"
#include "line_table.h"
#include "object_count.h"
#include "object_map.h"
#include "object_scan.h"
#include "python_report.h"
#include "python_start.h"
#include "state_place.h"
#include "table_lock.h"
#include "thread_title.h"

// The library is initialized before libc has set `environ`.
static void chain_depth_set(const struct session *session) {
  if (session->py_depth > 1) chain_depth = session->py_depth < CHAIN_MAX ? (uint32_t)session->py_depth : CHAIN_MAX;
}

static bool is_wanted(char **environment) {
  static struct session session; // too large for the stack
  size_t length = sizeof SESSION_VARIABLE - 1;
  while (*environment && (strncmp(*environment, SESSION_VARIABLE, length) != 0 || (*environment)[length] != '='))
    environment++;
  if (!thread_recording() || !*environment || !session_parse(*environment + length + 1, &session)) return false;
  chain_depth_set(&session);
  return session.py;
}

static void fork_child(void) {
  table_lock_fork_child();
  pair_fork_child();
  line_fork_child();
  python_report_fork_child();
}

// What Python's figures go through.
static void tables_start(void) {
  if (owners_on) detour_set(DETOUR_OWNERS);
  object_map_init(frame_layout_pool_bits(python.minor));
  ht_add_report_hook(python_report_fold);
  ht_add_fork_hook(fork_child);
  object_scan_init();
  thread_titles_start();
  behalf_lines_start();
  hook_autograd_start();
  count_live_source = python_report_live_add;
  count_tally_source = python_report_tally_add;
  report_flags_add(HT_PROCESS_PYTHON);
}

static void start(void) {
  state_place_find();
  tables_start();
  hook_python_install(true);
}

void python_start_attached(void) {
  chain_depth_set(ht_session());
  tables_start();
  thread_titles_look();
  python_report_note("Python's objects from before the attach are not seen, and may hold others that are not in use.");
  hook_python_install_attached();
}

static void close_watch(void) { ht_add_close_hook(autograd_library_closed); }

__attribute__((constructor)) static void python_constructor(int argc, char **argv, char **environment) {
  (void)argc, (void)argv;
  autograd_library_add_front();
  ht_add_attach_hook(close_watch);
  close_watch();
  if (!is_wanted(environment)) return;
  switch (python_api_find()) {
  case PYTHON_FOUND:
    if (frame_layout_set(python.minor, python.runtime)) {
      start();
      break;
    }
    __attribute__((fallthrough));
  case PYTHON_UNSUPPORTED:
    report_flags_add(HT_PROCESS_PYTHON_REFUSED);
    python_report_note("This Python is not one that --py knows (CPython 3.9 to 3.14 with a GIL): its memory is shown "
                       "as native code's.");
    break;
  case PYTHON_ABSENT:
    report_flags_add(HT_PROCESS_PYTHON_ABSENT);
    break;
  }
}
