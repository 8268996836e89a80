// Into an interpreter that runs, and out of it again. `heaptide attach` calls these in one of the program's threads,
// after ht_attach and before ht_detach (native/attach.h). They return at once: native/attach_python.h says how it goes
// on.
#ifndef HT_PYTHON_ATTACH_H
#define HT_PYTHON_ATTACH_H

#include "../native/attach_python.h"

// 0 or an errno: no thread could be started. EALREADY: it has been called before.
int ht_python_enter(void);

// Takes the last report and the hooks out. 0; ENOENT: they are not in, and will not be; EALREADY: it is under way or
// done; or an errno.
int ht_python_leave(void);

extern int ht_python_state; // enum python_attach_state

#endif
