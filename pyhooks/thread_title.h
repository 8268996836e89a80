// What Python calls its threads: the `_name` of their threading.Thread. No Python code runs for it.
#ifndef HT_THREAD_TITLE_H
#define HT_THREAD_TITLE_H

#include "../native/thread_name.h"

// From now on native asks here.
void thread_titles_start(void);

// The frame of threading.Thread.start that `frame` is in or next to; NULL: none.
const char *thread_start_frame(const char *frame);

// Where Python keeps its threads is looked up. The caller holds the GIL.
void thread_titles_look(void);
// And what they are called is read, for good: the interpreter is being taken down.
void thread_titles_keep(void);
// Another interpreter begins.
void thread_titles_begin_again(void);

// The name of the thread whose PyThreadState that is, after thread_titles_look. The caller holds the GIL.
bool thread_title_of_state(const void *thread_state, char name[THREAD_NAME_BYTES]);

#endif
