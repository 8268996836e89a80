#include "interpreter_life.h"

#include "../native/live.h"
#include "detour.h"
#include "frame_chain.h"
#include "hook_python.h"
#include "python_report.h"
#include "running_frame.h"

enum interpreter_phase interpreter_phase = INTERPRETER_STARTING;

bool interpreter_frames_readable(void) {
  return running_frame_proved && !running_frame_slow && interpreter_phase == INTERPRETER_UP && !hook_python_ended;
}

static void phase_set(enum interpreter_phase phase) {
  interpreter_phase = phase;
  if (phase == INTERPRETER_UP)
    detour_clear(DETOUR_START);
  else
    detour_set(DETOUR_START);
}

// PyMethodDef, Include/methodobject.h
struct method {
  const char *name;
  void *(*call)(void *self, void *arguments);
  int flags;
  const char *doc;
};
#define METH_NOARGS 4

// ---- the end: the last atexit callback to run, since it was the first to be registered. The threads that
// `threading` knows have been joined by then, modules and frames are all there (Py_FinalizeEx, Python/pylifecycle.c).

// It stays with the interpreter after a detach, and does nothing then.
HT_KEPT static struct {
  bool registered;
  void (*reference_add)(void *object);
  void *none;
} callback;
static bool is_in; // the hooks are

static void *last_callback(void *self, void *arguments) {
  (void)self, (void)arguments;
  if (is_in && !hook_python_ended) python_report_final();
  callback.reference_add(callback.none);
  return callback.none;
}

static struct method last_method = {"heaptide_last", last_callback, METH_NOARGS, NULL};

// The module is taken out of sys.modules again when it was not there before: which modules a program finds is its own
// business, and the callbacks are kept in the interpreter.
static bool atexit_register(void *object) {
  void *modules = python.PyImport_GetModuleDict();
  bool was_there = python.PyDict_GetItemString(modules, "atexit") != NULL;
  void *module = python.PyImport_ImportModule("atexit");
  void *function = module ? python.PyObject_GetAttrString(module, "register") : NULL;
  void *result = function ? python.PyObject_CallFunctionObjArgs(function, object, NULL) : NULL;
  if (module && !was_there) python.PyDict_DelItemString(modules, "atexit");
  if (!result) python.PyErr_Clear();
  if (function) python.Py_DecRef(function);
  if (module) python.Py_DecRef(module);
  if (result) python.Py_DecRef(result);
  return result != NULL;
}

static bool register_callback(void) {
  callback.reference_add = python.Py_IncRef;
  callback.none = python.none;
  void *object = python.PyCMethod_New(&last_method, NULL, NULL, NULL);
  callback.registered = object && atexit_register(object);
  if (object) python.Py_DecRef(object);
  return callback.registered;
}

// ---- 3.9: the interpreter has one exit function, that of the module `atexit`, which is set when that is imported
// (_Py_PyAtExit, Python/pylifecycle.c). Ours is put there, and in front of the module's as soon as it came.

typedef void (*exit_function)(void *module);
static exit_function *exit_slot; // PyInterpreterState.pyexitfunc
static exit_function exit_next;

static void exit_call(void *module) {
  if (exit_next) exit_next(module);
  if (!hook_python_ended) python_report_final();
}

static bool exit_function_set(void) {
  struct python_thread_links *state = python.thread_state();
  struct block interpreter;
  if (!python._Py_PyAtExit || !live_peek((uintptr_t)state->interpreter, &interpreter)) return false;
  uintptr_t *words = state->interpreter;
  size_t count = interpreter.size_bytes / sizeof *words, at = 0;
  python._Py_PyAtExit(exit_call, NULL);
  while (at < count && words[at] != (uintptr_t)exit_call) at++;
  if (at == count) return false;
  exit_slot = (exit_function *)&words[at];
  return true;
}

void interpreter_watch(void) {
  if (likely(!exit_slot) || *exit_slot == exit_call) return;
  exit_next = *exit_slot;
  *exit_slot = exit_call;
}

// ---- once it is up: called by the interpreter between two instructions of the main thread

static void unproved_note(void) {
  chain_depth = 1;
  python_report_note("This Python's frames are not laid out as expected: lines were asked from its own functions, "
                     "which is slow; those of the start-up may be wrong, and only one frame of each stack is kept.");
}

static void end_watch(void) {
  is_in = true;
  if (!(python.minor == 9 ? exit_function_set() : register_callback()))
    python_report_note("Python figures are those of the process's end: the interpreter took no exit callback.");
}

static void prepare(void) {
  if (!running_frame_prove(python.thread_state())) unproved_note();
  end_watch();
}

static int up_callback(void *unused) {
  (void)unused;
  phase_set(INTERPRETER_PREPARING);
  prepare();
  phase_set(INTERPRETER_UP);
  return 0;
}

// Every thread but the calling one stands still while that holds the GIL, somewhere in the program's code.
void interpreter_attach(void) {
  bool proved = true;
  python.main_interpreter = python.PyInterpreterState_Main();
  void *state = python.PyInterpreterState_ThreadHead(python.main_interpreter);
  for (; state && proved; state = python.PyThreadState_Next(state)) proved = running_frame_prove(state);
  if (!proved) unproved_note();
  if (callback.registered)
    is_in = true;
  else
    end_watch();
  phase_set(INTERPRETER_UP);
}

void interpreter_detach(void) { is_in = false; }

void interpreter_look(void) {
  bool is_up = python.Py_IsInitialized();
  hook_python_install(is_up);
  if (!is_up) return;
  phase_set(INTERPRETER_UP);
  if (python.Py_AddPendingCall(up_callback, NULL) != 0) phase_set(INTERPRETER_STARTING); // no room: next time
}

void interpreter_look_again(void) {
  static bool is_down; // seen since the end
  bool is_up = python.Py_IsInitialized();
  if (!is_up) is_down = true;
  if (!is_up || !is_down || !python_thread_state()) return;
  is_down = false;
  exit_slot = NULL;
  callback.registered = false;
  python.main_interpreter = NULL;
  python_report_begin_again();
  hook_python_begin_again();
  phase_set(INTERPRETER_STARTING);
}
