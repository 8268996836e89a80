#include "python_attach.h"

#include <errno.h>
#include <pthread.h>

#include "../native/attach.h"
#include "../native/core.h"
#include "../native/real.h"
#include "../native/report.h"
#include "frame_layout.h"
#include "hook_python.h"
#include "interpreter_life.h"
#include "object_count.h"
#include "object_map.h"
#include "python_api.h"
#include "python_report.h"
#include "python_start.h"

HT_EXPORT int ht_python_state = PYTHON_ATTACH_OUT; // atomic

static int state_get(void) { return __atomic_load_n(&ht_python_state, __ATOMIC_ACQUIRE); }
static void state_set(int state) { __atomic_store_n(&ht_python_state, state, __ATOMIC_RELEASE); }
static bool state_change(int from, int to) {
  return __atomic_compare_exchange_n(&ht_python_state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

// ---- a thread of heaptide's own: nothing in it is recorded. It is started with all signals blocked, as the command
// has them while it calls functions in the process, and what pthread_create allocates is not the program's either.

static int thread_start(void *(*work)(void *)) {
  pthread_t id;
  struct thread *thread = thread_self();
  uint8_t suspended = thread ? thread->suspended : 0;
  if (thread) thread->suspended = 1;
  int error = real.pthread_create(&id, NULL, work, NULL);
  if (!error) pthread_detach(id);
  if (thread) thread->suspended = suspended;
  return error;
}

// ---- in

// From 3.12 on each may have a lock of its own, and other threads of them run while the hooks go in.
static bool has_several_interpreters(void) {
  return python.minor >= 12 && python.PyInterpreterState_Next(python.PyInterpreterState_Head());
}

static int fit_look(void) {
  switch (python_api_find()) {
  case PYTHON_FOUND:
    break;
  case PYTHON_ABSENT:
    return PYTHON_ATTACH_ABSENT;
  case PYTHON_UNSUPPORTED:
    return PYTHON_ATTACH_UNSUPPORTED;
  }
  if (!frame_layout_set(python.minor, python.runtime)) return PYTHON_ATTACH_UNSUPPORTED;
  return python.Py_IsInitialized() ? PYTHON_ATTACH_WAITING : PYTHON_ATTACH_DOWN;
}

// With the GIL: nobody else is in one of its allocators but that of the RAW domain, which is left alone.
static int enter(void) {
  if (has_several_interpreters()) return PYTHON_ATTACH_SEVERAL;
  enum python_pools pools = hook_python_pools();
  if (pools == POOLS_UNKNOWN || !hook_python_has_room()) return PYTHON_ATTACH_OTHER;
  if (pools == POOLS_OWN) object_map_any_memory();
  pair_program_begin();
  interpreter_attach();
  python_start_attached();
  return PYTHON_ATTACH_IN;
}

// What is called after the wait was looked up before it: a detach that did not wait may have made all variables new.
static void *enter_work(void *unused) {
  thread_entering_set(true);
  int found = fit_look();
  if (found == PYTHON_ATTACH_UNSUPPORTED) report_flags_add(HT_PROCESS_PYTHON_REFUSED);
  if (found != PYTHON_ATTACH_WAITING) return state_set(found), unused;
  void (*release)(int) = python.PyGILState_Release;
  int before = python.PyGILState_Ensure();
  if (state_change(PYTHON_ATTACH_WAITING, PYTHON_ATTACH_ENTERING)) state_set(enter());
  release(before);
  return unused;
}

HT_EXPORT int ht_python_enter(void) {
  if (!thread_recording() || state_get() != PYTHON_ATTACH_OUT) return EALREADY;
  state_set(PYTHON_ATTACH_WAITING);
  int error = thread_start(enter_work);
  if (error) state_set(PYTHON_ATTACH_OUT);
  return error;
}

// ---- out

// The report is begun while no object comes or goes: it is of the same moment as the end of the hooks.
static void *leave_work(void *unused) {
  thread_entering_set(true);
  void (*release)(int) = python.PyGILState_Release;
  int before = python.PyGILState_Ensure();
  attach_report_begin();
  python_report_release();
  hook_python_remove();
  interpreter_detach();
  state_set(PYTHON_ATTACH_LEFT);
  release(before);
  return unused;
}

HT_EXPORT int ht_python_leave(void) {
  if (state_change(PYTHON_ATTACH_WAITING, PYTHON_ATTACH_OUT)) return ENOENT;
  if (!state_change(PYTHON_ATTACH_IN, PYTHON_ATTACH_LEAVING)) {
    int state = state_get();
    bool under_way = state == PYTHON_ATTACH_ENTERING || state == PYTHON_ATTACH_LEAVING || state == PYTHON_ATTACH_LEFT;
    return under_way ? EALREADY : ENOENT;
  }
  int error = thread_start(leave_work);
  if (error) state_set(PYTHON_ATTACH_IN);
  return error;
}
