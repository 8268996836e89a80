// While heaptide is stopped with CMD it cannot see that CMD goes on, or is killed: another process looks for it.
#ifndef HT_WAKER_H
#define HT_WAKER_H

#include <sys/types.h>

// A process that continues the calling one as soon as process `pid` is no longer stopped. -1: none could be made.
pid_t waker_start(pid_t pid);
// Takes -1 too.
void waker_end(pid_t waker);

#endif
