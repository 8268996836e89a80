// Which frames belong to a runtime: libc, an allocator, operator new, the C++ library (headers included), Rust's and
// Mojo's library, the Python interpreter. Such a frame is where memory comes from, never why.
#ifndef HT_RUNTIME_FRAME_H
#define HT_RUNTIME_FRAME_H

#include <stdbool.h>
#include <stdint.h>

// All texts may be NULL. `module_flags`: HT_MODULE_*.
bool runtime_frame(const char *function, const char *file, const char *module, uint32_t module_flags);

#endif
