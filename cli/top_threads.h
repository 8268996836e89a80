// The table of threads of `heaptide top`.
#ifndef HT_TOP_THREADS_H
#define HT_TOP_THREADS_H

#include "top_lines.h"

// The threads of the view in the order to show them, view->thread_row_count of them, in new memory.
const struct view_thread **top_threads_sorted(const struct view *view, enum top_sort sort);

// Each writes one line of at most `width` columns (TOP_WIDTH_MAX at most).
void top_threads_heading(char line[TOP_LINE_BYTES], int width);
void top_threads_row(char line[TOP_LINE_BYTES], const struct view_thread *thread, int width);

#endif
