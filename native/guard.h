// Reading memory that may turn out closed: guard pages that /proc/self/maps does not show, pages of a file that has
// been cut. SIGSEGV and SIGBUS are ours while a scan runs; a fault of the scanning thread ends guard_run.
#ifndef HT_GUARD_H
#define HT_GUARD_H

#include "words.h"

// Installs the handlers for the calling thread's reads, and takes them away. One user at a time.
void guard_begin(void);
void guard_end(void);

// Calls `body(context)`. False: it faulted on the way, and everything it had put into memory until then stands.
// `body` must not hold a lock when it faults. Between guard_begin and guard_end.
bool guard_run(void (*body)(void *context), void *context);

#endif
