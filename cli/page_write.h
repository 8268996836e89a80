// Pages: their own text, made from cli/page/ when heaptide is built (cli/page/inline.py), with the data in the middle.
#ifndef HT_PAGE_WRITE_H
#define HT_PAGE_WRITE_H

#include <stdbool.h>
#include <stdio.h>

#include "page_data.h"

struct page_text {
  const char *before_data, *after_data;
};
extern const struct page_text page_text_flame, page_text_diff;

// False: the stream cannot be written, errno says why.
bool page_write(FILE *stream, const struct page_text *text, const struct page_data *data);

#endif
