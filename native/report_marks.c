#include "report_marks.h"

#include "mark.h"
#include "text.h"

static void mark_rows_write(const struct marks *marks, uint32_t count, struct writer *writer) {
  writer_section(writer, HT_SECTION_MARKS);
  for (uint32_t i = 0; i < count; i++) {
    const struct mark *mark = &marks->marks[i];
    struct ht_file_mark row = {.name = mark->name, .at_ns = mark->at_ns, .live_bytes = mark->live_bytes};
    writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
}

static void name_rows_write(const struct marks *marks, uint32_t count, struct report_tables *tables,
                            struct writer *writer) {
  writer_section(writer, HT_SECTION_MARK_NAMES);
  for (uint32_t i = 0; i < count; i++) {
    const struct mark_name *name = &marks->names[i];
    struct ht_file_mark_name row = {.name = tables_string(tables, name->text),
                                    .count = name->count,
                                    .first_ns = name->first_ns,
                                    .last_ns = name->last_ns,
                                    .first_live_bytes = name->first_live_bytes,
                                    .last_live_bytes = name->last_live_bytes};
    writer_add(writer, &row, sizeof row);
  }
  writer_section_end(writer);
}

// Names are counted after marks, and written with all that they count.
void marks_write(struct report_tables *tables, struct writer *writer) {
  const struct marks *marks = mark_all();
  uint32_t count = marks ? __atomic_load_n(&marks->count, __ATOMIC_ACQUIRE) : 0;
  mark_rows_write(marks, count, writer);
  name_rows_write(marks, marks ? __atomic_load_n(&marks->name_count, __ATOMIC_ACQUIRE) : 0, tables, writer);
}

static void count_note(struct report_notes *notes, struct report_tables *tables, uint64_t count, const char *words,
                       uint64_t limit, const char *rest) {
  char sentence[200];
  struct text text;
  text_start(&text, sentence, sizeof sentence);
  text_add_decimal(&text, count);
  text_add(&text, words);
  text_add_decimal(&text, limit);
  text_add(&text, rest);
  if (count) notes_add(notes, tables, sentence);
}

void marks_note(struct report_notes *notes, struct report_tables *tables) {
  const struct marks *marks = mark_all();
  uint64_t all = 0;
  for (uint32_t i = 0; marks && i < marks->name_count; i++) all += marks->names[i].count;
  if (all > MARKS_KEPT)
    count_note(notes, tables, all - MARKS_KEPT, " marks are counted by name only: the first ", MARKS_KEPT,
               " are kept one by one");
  count_note(notes, tables, mark_left_out(),
             " marks were left out: made by signal handlers inside heaptide, or with more than ", MARK_NAMES,
             " different names");
}
