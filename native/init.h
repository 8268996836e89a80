// Start of the recorder in a process that has long begun.
#ifndef HT_INIT_H
#define HT_INIT_H

#include "words.h"

// Sets everything up for `session_text` (session.h) but for what makes calls come here. False: the text is damaged, or
// there is no memory.
bool init_attached(const char *session_text);

// The library came with the program's start: its functions have taken malloc's names for good.
bool init_is_preloaded(void);

#endif
