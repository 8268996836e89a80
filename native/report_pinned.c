#include "report_pinned.h"

static struct pinned_site total;
static const struct pinned_site *front;
static uint32_t front_count;

void pinned_front_set(const struct pinned_site *all, const struct pinned_site *sites, uint32_t count) {
  total = *all;
  front = sites;
  front_count = count;
}

void pinned_fork_child(void) {
  total = (struct pinned_site){0};
  front_count = 0;
}

void pinned_want(struct report_tables *tables) {
  for (uint32_t i = 0; i < front_count; i++) tables_want(tables, front[i].site);
}

static void row_write(struct writer *writer, uint32_t site, const struct pinned_site *pinned) {
  struct ht_file_pinned row = {.site = site, .blocks = pinned->blocks, .bytes = pinned->bytes};
  writer_add(writer, &row, sizeof row);
}

void pinned_write(const struct report_tables *tables, struct writer *writer) {
  writer_section(writer, HT_SECTION_PYTHON_PINNED);
  if (total.blocks) row_write(writer, 0, &total);
  for (uint32_t i = 0; i < front_count; i++)
    if (tables_site(tables, front[i].site)) row_write(writer, tables_site(tables, front[i].site), &front[i]);
  writer_section_end(writer);
}
