// Text for people: colour where it is wanted, and nothing from a file name that could steer the terminal.
#ifndef HT_TEXT_OUT_H
#define HT_TEXT_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "stacks.h"

struct text_out {
  FILE *stream;
  bool colour;
  bool sparkline; // a terminal that shows UTF-8's block characters
  char *folder;   // working folder: files below it are shown relative to it; NULL: unknown
};

// For stdout; `colour` false: never coloured.
struct text_out text_out_make(FILE *stream, bool colour);
void text_out_free(struct text_out *out);

enum text_style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_BAD, STYLE_GOOD, STYLE_HEADING };

// printf in a style, for text of the tool's own.
void text_print(struct text_out *out, enum text_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// A text from outside: control characters and bytes that are no UTF-8 as `?`, cut after `width` characters.
void text_print_foreign(struct text_out *out, enum text_style style, const char *text, int width);

// The frames of a stack, one a line: what the site called in a runtime, then from the site outwards what is no
// runtime's, at most `limit`.
void text_print_stack(struct text_out *out, const struct stacks *stacks, uint32_t node, int limit);

// Bytes over time as one line of blocks, the highest full, behind `indent` spaces; nothing without out->sparkline.
void text_print_sparkline(struct text_out *out, int indent, const double *bytes, size_t count);

#endif
