// Into and out of a process that runs. `heaptide attach` loads the library and calls these two in one of the program's
// threads, at a point where that thread is in neither the allocator nor the loader, on a stack of its own.
#ifndef HT_ATTACH_H
#define HT_ATTACH_H

// Begins to record for `session_text` (session.h). 0, EALREADY: this process is being recorded already, ENOTSUP:
// `heaptide run` has loaded the library into it and leaves it out, EINVAL: the text is damaged or there is no memory.
int ht_attach(const char *session_text);

// Writes the last report, takes every hook out and gives the tables' memory back. The library stays and does nothing.
// 0, EINVAL: it was not attached, EIO: all done, but the report could not be written, EBUSY: all done, but a thread
// could not be stopped, and the tables stay for its sake.
int ht_detach(void);

// For a front end whose hooks go out first: begins that report now.
void attach_report_begin(void);

#endif
