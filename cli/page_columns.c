#include "page_columns.h"

static void number_write(FILE *stream, uint64_t number) {
  for (; number >= 0x80; number >>= 7) putc_unlocked((int)(number & 0x7f) | 0x80, stream);
  putc_unlocked((int)number, stream);
}

struct page_column column_begin(FILE *stream, const char *name, enum column_coding coding, uint64_t count) {
  fprintf(stream, "%s%c%c", name, 0, (int)coding);
  number_write(stream, count);
  return (struct page_column){stream, coding, 0};
}

void column_add(struct page_column *column, uint64_t value) {
  if (column->coding == COLUMN_PLAIN) {
    number_write(column->stream, value);
    return;
  }
  int64_t difference = (int64_t)(value - column->last);
  number_write(column->stream, (uint64_t)difference << 1 ^ (uint64_t)(difference >> 63));
  column->last = value;
}
