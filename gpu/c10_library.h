// Where libc10's own function is that the hook stands in front of. The library may lie in a local scope.
#ifndef HT_C10_LIBRARY_H
#define HT_C10_LIBRARY_H

#include "../native/got.h"

// Mangled; the hook of this name is in hook_c10.c.
#define C10_REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"

// NULL: nothing has it, so that nothing can have called the hook. At the entry of a hook: may take the loader's lock.
void *c10_real_report(void);
// Where a call of `name` that is bound already is to go, once c10_real_report was called. False: not that function, or
// there is no libc10.
bool c10_redirection(const char *name, struct got_redirection *found);
// After a dlclose.
void c10_library_closed(void);

#endif
