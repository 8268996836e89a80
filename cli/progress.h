// A line on stderr about what takes long, from a second on.
#ifndef HT_PROGRESS_H
#define HT_PROGRESS_H

#include <stddef.h>

// `done` of `total` steps of `what` are over. Shown on a terminal only: in a log it would be noise, as nobody waits for
// it there. Cheap enough to be called at each step.
void progress_show(const char *what, size_t done, size_t total);

// Takes the line off the terminal again; to be called before anything else is written.
void progress_clear(void);

#endif
