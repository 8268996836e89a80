#include "text_table.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "pool.h"

static size_t text_place(const struct text_table *table, const char *text) {
  size_t place = hash_bytes(HASH_START, text, strlen(text)) & (table->table_capacity - 1);
  while (table->table[place] && strcmp(table->texts[table->table[place] - 1], text) != 0)
    place = (place + 1) & (table->table_capacity - 1);
  return place;
}

static void table_double(struct text_table *table) {
  free(table->table);
  table->table_capacity = table->table_capacity ? table->table_capacity * 2 : 1024;
  table->table = memory_get(table->table_capacity, sizeof *table->table);
  for (size_t i = 0; i < table->count; i++) table->table[text_place(table, table->texts[i])] = (uint32_t)i + 1;
}

uint32_t text_table_number(struct text_table *table, const char *text) {
  if (table->count * 2 >= table->table_capacity) table_double(table);
  size_t place = text_place(table, text);
  if (!table->table[place]) {
    table->texts = memory_grow(table->texts, table->count, &table->capacity, sizeof *table->texts);
    table->texts[table->count] = memory_text(text, strlen(text));
    table->table[place] = (uint32_t)++table->count;
  }
  return table->table[place] - 1;
}

void text_table_free(struct text_table *table) {
  for (size_t i = 0; i < table->count; i++) free(table->texts[i]);
  free(table->texts);
  free(table->table);
  *table = (struct text_table){0};
}
