// The wrappers of HIP's functions, made from the table. Exported without a version: so they are bound for
// `hipMalloc@hip_4.2` and the like (ld.so takes an unversioned definition for any version).
#include "account.h"
#include "driver_use.h"
#include "graphs.h"
#include "hip_library.h"
#include "streams.h"

#define WRAPPER(name, parameters, arguments, before, succeeded, failed)                                                \
  HT_EXPORT hip_status name parameters;                                                                                \
  HT_EXPORT hip_status name parameters {                                                                               \
    hip_status(*real_function) parameters = (hip_status(*) parameters)hip_real(HIP_##name);                            \
    if (!real_function) { /* not HIP's: passed through; of no library: there is no device */                           \
      real_function = (hip_status(*) parameters)hip_elsewhere(HIP_##name);                                             \
      return real_function ? real_function arguments : HIP_NO_DEVICE;                                                  \
    }                                                                                                                  \
    struct hip_call at_hand = call_begin(HOOK_FRAME()), *call = &at_hand;                                              \
    if (call->thread) before;                                                                                          \
    hip_status result = real_function arguments;                                                                       \
    if (call_is_followed(call)) {                                                                                      \
      if (result == HIP_SUCCESS)                                                                                       \
        succeeded;                                                                                                     \
      else                                                                                                             \
        failed;                                                                                                        \
    }                                                                                                                  \
    call_end(call);                                                                                                    \
    return result;                                                                                                     \
  }

// Out of memory: the library has read the arguments that `asked` reads. Of other failures they may be the reason.
#define MAKES(name, parameters, arguments, asked, after)                                                               \
  WRAPPER(name, parameters, arguments, driver_use_ask(call), after,                                                    \
          result == HIP_OUT_OF_MEMORY ? call_failed(call, asked) : (void)0)
#define FREES(name, parameters, arguments, space, key)                                                                 \
  WRAPPER(name, parameters, arguments, (driver_use_ask(call), call_take(call, space, key)),                            \
          call_taken_end(call, result), call_taken_end(call, result))
#define WATCHES(name, parameters, arguments, after) WRAPPER(name, parameters, arguments, (void)0, after, (void)0)
#define LENDS(name, parameters, arguments, out, after)                                                                 \
  WRAPPER(name, parameters, arguments, call->found = (out) ? *(out) : NULL,                                            \
          call_lent(call, (out) ? *(out) : NULL) ? after : (void)0, (void)0)
#define ENDS(name, parameters, arguments, before, refused)                                                             \
  WRAPPER(name, parameters, arguments, before, (void)0, refused)
#define SETTLES(name, parameters, arguments, after) WRAPPER(name, parameters, arguments, (void)0, after, after)
#include "hip_functions.def"
