// What the page shows, in three parts: facts (JSON, what report --json says but for its lists), texts and columns.
#ifndef HT_PAGE_DATA_H
#define HT_PAGE_DATA_H

#include <stdio.h>

#include "report_set.h"

struct page_part {
  char *data;
  size_t bytes;
};

struct page_data {
  struct page_part facts;   // JSON
  struct page_part texts;   // UTF-8, ended by a NUL each; text 0 (unknown) is left out
  struct page_part columns; // page_columns.h
};

// `set` has been judged. `folder`: its name, as the user gave it.
struct page_data page_data_make(const struct report_set *set, const char *folder);
void page_data_free(struct page_data *data);

#endif
