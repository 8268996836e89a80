// Calls that are queued in a concurrent.futures.ThreadPoolExecutor (asyncio's too), to be made by a thread of its own:
// the object that stands for one, a _WorkItem, is allocated with all the lines that queue it, so that whoever makes the
// call later finds them there (Lib/concurrent/futures/thread.py, 3.9 to 3.14).
#ifndef HT_QUEUED_CALL_H
#define HT_QUEUED_CALL_H

#include "running_frame.h"

// Whether `code` is that of ThreadPoolExecutor.submit, in which _WorkItems are made.
bool queued_call_is_made_by(const char *code);
// Whether `frame`, which started a thread, is in ThreadPoolExecutor.submit: the thread is the executor's.
bool queued_call_starts_thread(const char *frame);
// The _WorkItem whose call `frame` or one further out is in; NULL: none.
const void *queued_call_around(const char *frame);

#endif
