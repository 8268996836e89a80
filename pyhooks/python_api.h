// The Python in this process, if there is one: its functions by name, its version. Never linked against.
#ifndef HT_PYTHON_API_H
#define HT_PYTHON_API_H

#include <stdint.h>
#include <sys/types.h>

#include "../native/words.h"

// PyMemAllocatorEx and PyObjectArenaAllocator (Include/cpython/pymem.h and objimpl.h, the same since 3.5).
struct python_allocator {
  void *context;
  void *(*malloc)(void *context, size_t bytes);
  void *(*calloc)(void *context, size_t count, size_t bytes);
  void *(*realloc)(void *context, void *block, size_t bytes);
  void (*free)(void *context, void *block);
};
struct python_arena_allocator {
  void *context;
  void *(*alloc)(void *context, size_t bytes);
  void (*free)(void *context, void *arena, size_t bytes);
};
// PyMemAllocatorDomain
enum python_domain { PYTHON_RAW, PYTHON_MEM, PYTHON_OBJ, PYTHON_DOMAINS };

// PyObject: in every build with a GIL.
struct python_object {
  ssize_t reference_count;
  void *type;
};

#define PYTHON(need, result, name, arguments) result(*name) arguments;
struct python_api {
  int minor; // 9 for 3.9
  // The running thread's PyThreadState, NULL: none, or it does not hold the GIL (3.12 on).
  void *(*thread_state)(void);
  void *code_type;        // &PyCode_Type
  void *runtime;          // &_PyRuntime; NULL: not exported
  void *none;             // Py_None
  void *string_type;      // &PyUnicode_Type
  void *int_type;         // &PyLong_Type
  void *weak_types[3];    // of weak references and their proxies
  void *main_interpreter; // PyInterpreterState of the first thread state seen
  // Types that the names of holders tell apart.
  void *module_type, *function_type, *cell_type, *frame_type, *generator_types[3], *set_types[2];
#include "python_api.def"
};
#undef PYTHON
extern HT_HIDDEN struct python_api python;

// What PyThreadState begins with (Include/cpython/pystate.h): the thread states of an interpreter are a list.
struct python_thread_links {
  struct python_thread_links *previous, *next;
  void *interpreter;
};
// Whether the thread state is a subinterpreter's.
HT_INLINE bool python_interpreter_is_other(const void *thread_state) {
  void *interpreter = ((const struct python_thread_links *)thread_state)->interpreter;
  if (likely(interpreter == python.main_interpreter)) return false;
  if (python.main_interpreter) return true;
  python.main_interpreter = interpreter;
  return false;
}

enum python_found {
  PYTHON_FOUND,
  PYTHON_ABSENT,      // no CPython symbols in this process
  PYTHON_UNSUPPORTED, // one that the hooks do not fit: another version, a free-threaded build
};
// Looks everything up. Called once, from a constructor; uses dlsym, so never from a hook.
enum python_found python_api_find(void);

#endif
