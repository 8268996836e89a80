// Texts with numbers: each text once, in the order in which they came.
#ifndef HT_TEXT_TABLE_H
#define HT_TEXT_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct text_table {
  char **texts;
  size_t count, capacity;
  uint32_t *table; // open hash table of number + 1
  size_t table_capacity;
};

// The number of `text`, counting from 0; it is added when it is not there.
uint32_t text_table_number(struct text_table *table, const char *text);

void text_table_free(struct text_table *table);

#endif
