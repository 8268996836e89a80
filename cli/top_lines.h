// The lines of `heaptide top`, for the screen and for plain text.
#ifndef HT_TOP_LINES_H
#define HT_TOP_LINES_H

#include <stddef.h>

#include "units.h"
#include "watch.h"

// Room for a line, whatever the width: each character may take four bytes.
#define TOP_LINE_BYTES 2048
#define TOP_WIDTH_MAX 500
#define TOP_WIDTH_PLAIN 120

// What the table has a row for.
enum top_table { TOP_SITES, TOP_THREADS, TOP_TABLES };

// TOP_BY_LIVE is a thread's net bytes; TOP_BY_DEVICE is of sites only, TOP_BY_COUNT of threads only.
enum top_sort { TOP_BY_LIVE, TOP_BY_GROWTH, TOP_BY_ALLOCATIONS, TOP_BY_DEVICE, TOP_BY_COUNT };

// The rows of the view in the order to show them, view->row_count of them, in new memory.
const struct view_row **top_sorted(const struct view *view, enum top_sort sort);

// Each writes one line of at most `width` columns (TOP_WIDTH_MAX at most).
void top_line_process(char line[TOP_LINE_BYTES], const struct watch *watch, int width);
void top_line_more(char line[TOP_LINE_BYTES], const struct watch *watch, enum top_table table, enum top_sort sort,
                   int width);
void top_line_heading(char line[TOP_LINE_BYTES], int width);
void top_line_row(char line[TOP_LINE_BYTES], const struct view_row *row, int width);
// The same for any text: cut, and nothing in it that could steer a terminal.
void top_line_cut(char line[TOP_LINE_BYTES], const char *text, int width);
// The same of a text that is freed.
void top_line_take(char line[TOP_LINE_BYTES], char *text, int width);

// "+1.00 MiB", "-3.00 KiB", "0 B"; returns `text`.
char *top_signed_text(char text[UNITS_TEXT], double bytes);
// The nearest whole number, 0 for what is negative.
uint64_t top_rounded(double value);

#endif
