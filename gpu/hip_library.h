// Where the real HIP functions are. The library is never loaded by heaptide: it is looked for among the modules that
// the program has loaded.
#ifndef HT_HIP_LIBRARY_H
#define HT_HIP_LIBRARY_H

#include "../native/got.h"

enum hip_function {
#define HIP_NAME(name) HIP_##name,
#include "hip_names.h"
#undef HIP_NAME
  HIP_FUNCTION_COUNT,
};

extern HT_HIDDEN void *hip_real_functions[HIP_FUNCTION_COUNT];

// The real function, found on first use. NULL: the program calls a function that no loaded library has (without
// heaptide it would not have been bound). At the entry of a wrapper: takes the loader's lock, may allocate.
void *hip_real_find(enum hip_function function);
HT_INLINE void *hip_real(enum hip_function function) {
  void *real = __atomic_load_n(&hip_real_functions[function], __ATOMIC_ACQUIRE);
  return likely(real != NULL) ? real : hip_real_find(function);
}

// A function of that name in another library than HIP's, when HIP's has none: a caller may be bound to it. NULL:
// nothing has it. As hip_real_find.
void *hip_elsewhere(enum hip_function function);

// Looks all of them up, if the library is there: once, before calls that are bound already are redirected.
void hip_real_find_all(void);
// The wrapper and the real function of that name. False: not one of the table, or not found by now.
bool hip_redirection(const char *name, struct got_redirection *found);

// What a caller that looks a function up by `name` and finds `found` is to get: the wrapper when `found` is a HIP
// library's, or of a library in front of it, and the table has the name, else `found`.
void *hip_wrapped(const char *name, void *found);

// The table's number of `name`, or -1.
int hip_function_named(const char *name);

// For dlsym(RTLD_DEFAULT), which finds the wrapper whether or not a library is there: what a caller at `caller` would
// find without heaptide, in `version` where that is not NULL. NULL leaves the reason for dlerror.
void *hip_visible(const char *name, const char *version, void *caller);

// Whether `caller` lies in the program itself, which comes before every preloaded library.
bool hip_caller_is_program(const void *caller);

// Whether `function` is one of the wrappers.
bool hip_is_wrapper(const void *function);

// The major version of the library in use, by its SONAME; 0: not known.
int hip_major(void);

// An answer of the stand-in library of heaptide's own tests and demo: the name of its device, NULL for a real one.
const char *hip_simulated_name(void);

// After a dlclose: functions whose library is gone are forgotten.
void hip_library_closed(void);

#endif
