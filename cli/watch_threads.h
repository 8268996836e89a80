// The threads of a process that is watched.
#ifndef HT_WATCH_THREADS_H
#define HT_WATCH_THREADS_H

#include "model.h"
#include "watch.h"

// The rows of `view`: of the living threads one each, of all that have ended one.
void watch_threads_make(struct view *view, const struct report *report, struct pool *texts);

// What each did since `before`, `seconds` ago.
void watch_threads_rates(struct view *view, const struct view *before, double seconds);

#endif
