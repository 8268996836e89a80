#include "report_types.h"

static struct {
  const struct site_type *types;
  uint32_t count;
} front[TYPES_OF_COUNT];

void types_front_set(enum types_of which, const struct site_type *types, uint32_t count) {
  front[which].types = types;
  front[which].count = count;
}

static void section_write(struct report_tables *tables, struct writer *writer, enum types_of which) {
  static const enum ht_section_id sections[] = {
      [TYPES_OF_LIVE] = HT_SECTION_PYTHON_TYPES, [TYPES_OF_LOST] = HT_SECTION_PYTHON_LOST_TYPES};
  writer_section(writer, sections[which]);
  for (uint32_t i = 0; i < front[which].count; i++) {
    const struct site_type *type = &front[which].types[i];
    struct ht_file_type row = {.site = tables_site(tables, type->site)};
    if (!row.site || !type->blocks) continue;
    row.name = tables_string(tables, type->name);
    row.blocks = type->blocks;
    row.bytes = type->bytes;
    writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
}

void types_write(struct report_tables *tables, struct writer *writer) {
  section_write(tables, writer, TYPES_OF_LIVE);
  section_write(tables, writer, TYPES_OF_LOST);
}
