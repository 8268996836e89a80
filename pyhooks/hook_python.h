// CPython's allocators: every block goes to the line that asked for it.
#ifndef HT_HOOK_PYTHON_H
#define HT_HOOK_PYTHON_H

#include <stdbool.h>

// Puts the hooks in where they are not. Python's start-up may throw them out again (PYTHONMALLOC=..., -X dev), so
// this is called until the interpreter is up, then once more with `all`: every domain is looked at.
void hook_python_install(bool all);

enum python_pools {
  POOLS_OWN,     // small objects come from Python's pools, and nothing else does
  POOLS_NONE,    // all is malloc's
  POOLS_UNKNOWN, // another tool's allocators are set, or debugging ones
};
enum python_pools hook_python_pools(void);
// Whether there is room for one more set of hooks. (Each that another tool kept for good has taken one.)
bool hook_python_has_room(void);
// In and out of an interpreter that runs. The caller holds the GIL.
void hook_python_install_attached(void);
void hook_python_remove(void);

// From now on nothing is counted: the interpreter is being taken down. Blocks that go are still forgotten, so that
// the leak scan at exit knows which are left.
void hook_python_end(void);
extern bool hook_python_ended;
// False: hooks that another tool keeps although they were to go pass everything through. (They take no short way then,
// by DETOUR_START.)
extern bool hook_python_on;
// After the end: another interpreter came up.
void hook_python_begin_again(void);

#endif
