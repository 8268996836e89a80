// CPython's allocators: every block goes to the line that asked for it.
#ifndef HT_HOOK_PYTHON_H
#define HT_HOOK_PYTHON_H

#include <stdbool.h>

// Puts the hooks in where they are not. Python's start-up may throw them out again (PYTHONMALLOC=..., -X dev), so
// this is called until the interpreter is up, then once more with `all`: every domain is looked at.
void hook_python_install(bool all);

// From now on nothing is counted: the interpreter is being taken down. Blocks that go are still forgotten, so that
// the leak scan at exit knows which are left.
void hook_python_end(void);
extern bool hook_python_ended;

#endif
