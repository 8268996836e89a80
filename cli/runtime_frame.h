// Which frames belong to a runtime: libc, an allocator, operator new, the C++ library (headers included), Rust's and
// Mojo's library, the Python interpreter. Such a frame is where memory comes from, never why.
#ifndef HT_RUNTIME_FRAME_H
#define HT_RUNTIME_FRAME_H

#include <stdbool.h>
#include <stdint.h>

// All texts may be NULL. `module_flags`: HT_MODULE_*.
bool runtime_frame(const char *function, const char *file, const char *module, uint32_t module_flags);

// Whether a module is libpython, or an interpreter with it inside.
bool runtime_frame_is_python(const char *module);

// Whether a frame of this module only leads from Python code to what it called: the interpreter, and what ctypes calls
// with. In a stack with Python's lines it says nothing.
bool runtime_frame_between_lines(const char *module);

// Whether a Python frame of this file is of the import system: all of them are one frame, FRAME_IMPORT.
bool runtime_frame_imports(const char *file);
#define FRAME_IMPORT "[import]"

// A runtime's frame that says no more than that memory was allocated, or that a library was loaded: not shown below the
// site. Both may be NULL.
bool runtime_frame_tells_nothing(const char *file, const char *module);

#endif
