// Columns of numbers as the page reads them (cli/page/payload.js): each has its name and a NUL, a byte that says how it
// is coded, the number of its values and the values, all numbers as LEB128.
#ifndef HT_PAGE_COLUMNS_H
#define HT_PAGE_COLUMNS_H

#include <stdint.h>
#include <stdio.h>

enum column_coding {
  COLUMN_PLAIN,
  COLUMN_DELTA, // differences to the value before (the first: to 0), zigzag: 0, -1, 1, -2 ... as 0, 1, 2, 3 ...
};

struct page_column {
  FILE *stream;
  enum column_coding coding;
  uint64_t last;
};

// `count` values have to follow by column_add.
struct page_column column_begin(FILE *stream, const char *name, enum column_coding coding, uint64_t count);
void column_add(struct page_column *column, uint64_t value);

#endif
