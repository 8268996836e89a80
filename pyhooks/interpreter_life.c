#include "interpreter_life.h"

#include "hook_python.h"
#include "python_report.h"
#include "running_frame.h"

enum interpreter_phase interpreter_phase = INTERPRETER_STARTING;

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

static void *last_callback(void *self, void *arguments) {
  (void)self, (void)arguments;
  if (!hook_python_ended) python_report_final();
  python.Py_IncRef(python.none);
  return python.none;
}

static struct method last_method = {"heaptide_last", last_callback, METH_NOARGS, NULL};

// Whether the module `atexit` was there before is the program's to see: from 3.10 on its callbacks are kept in the
// interpreter, so the module can be taken out of sys.modules again.
static bool atexit_register(void *callback) {
  void *modules = python.PyImport_GetModuleDict();
  bool was_there = python.PyDict_GetItemString(modules, "atexit") != NULL;
  void *module = python.PyImport_ImportModule("atexit");
  void *function = module ? python.PyObject_GetAttrString(module, "register") : NULL;
  void *result = function ? python.PyObject_CallFunctionObjArgs(function, callback, NULL) : NULL;
  if (module && !was_there && python.minor >= 10) python.PyDict_DelItemString(modules, "atexit");
  if (!result) python.PyErr_Clear();
  if (function) python.Py_DecRef(function);
  if (module) python.Py_DecRef(module);
  if (result) python.Py_DecRef(result);
  return result != NULL;
}

// ---- once it is up: called by the interpreter between two instructions of the main thread

static void prepare(void) {
  if (!running_frame_prove())
    python_report_note("This Python's frames are not laid out as expected: lines were asked from its own functions, "
                       "which is slow; those of the start-up may be wrong.");
  void *callback = python.PyCMethod_New(&last_method, NULL, NULL, NULL);
  if (!callback || !atexit_register(callback))
    python_report_note("Python figures are those of the process's end: the interpreter took no exit callback.");
  if (callback) python.Py_DecRef(callback);
}

static int up_callback(void *unused) {
  (void)unused;
  interpreter_phase = INTERPRETER_PREPARING;
  prepare();
  interpreter_phase = INTERPRETER_UP;
  return 0;
}

void interpreter_look(void) {
  bool is_up = python.Py_IsInitialized();
  hook_python_install(is_up);
  if (!is_up) return;
  interpreter_phase = INTERPRETER_UP;
  if (python.Py_AddPendingCall(up_callback, NULL) != 0) interpreter_phase = INTERPRETER_STARTING; // no room: next time
}
