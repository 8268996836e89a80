#include "report_notes.h"

#include "count.h"
#include "site.h"
#include "text.h"

#define KEPT_MAX 8 // later ones are left out
static const char *kept[KEPT_MAX];
static uint32_t kept_count;

void notes_keep(const char *sentence) {
  for (uint32_t i = 0; i < KEPT_MAX && kept[i]; i++)
    if (kept[i] == sentence) return;
  if (__atomic_load_n(&kept_count, __ATOMIC_RELAXED) >= KEPT_MAX) return;
  uint32_t place = __atomic_fetch_add(&kept_count, 1, __ATOMIC_RELAXED);
  if (place < KEPT_MAX) kept[place] = sentence;
}

void notes_forget(const char *sentence) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < KEPT_MAX && kept[i]; i++)
    if (kept[i] != sentence) kept[left++] = kept[i];
  for (kept_count = left; left < KEPT_MAX; left++) kept[left] = NULL;
}

void notes_add(struct report_notes *notes, struct report_tables *tables, const char *sentence) {
  uint32_t ref = tables_string(tables, sentence);
  buffer_append(&notes->refs, &ref, sizeof ref);
}

static void calls_note(struct report_notes *notes, struct report_tables *tables, uint64_t calls) {
  char sentence[200];
  struct text text;
  text_start(&text, sentence, sizeof sentence);
  text_add_decimal(&text, calls);
  text_add(&text, " allocation calls were passed through without a record");
  if (calls) notes_add(notes, tables, sentence);
}

// When any of `count` reserved sites from `first` on has been used.
static void sites_note(struct report_notes *notes, struct report_tables *tables, uint32_t first, uint32_t count,
                       const char *sentence) {
  struct site_figures figures;
  uint64_t allocations = 0;
  for (uint32_t i = 0; i < count; i++) {
    tables_figures(tables, site_reserved(first + i), &figures);
    allocations += figures.allocations;
  }
  if (allocations) notes_add(notes, tables, sentence);
}

static void peak_note(struct report_notes *notes, struct report_tables *tables) {
  char sentence[160];
  struct text text;
  uint64_t missed_bytes = count_peak_missed_bytes();
  if (!missed_bytes) return;
  text_start(&text, sentence, sizeof sentence);
  text_add(&text, "threads allocated so fast that the peak was not followed call by call: it may be up to ");
  text_add_decimal(&text, (missed_bytes + 1023) >> 10);
  text_add(&text, " KiB low");
  notes_add(notes, tables, sentence);
}

void notes_collect(struct report_notes *notes, struct report_tables *tables, const struct scan_result *scan,
                   uint64_t unseen_calls) {
  for (uint32_t i = 0; i < scan->note_count; i++) notes_add(notes, tables, scan->notes[i]);
  for (uint32_t i = 0; i < KEPT_MAX && kept[i]; i++) notes_add(notes, tables, kept[i]);
  calls_note(notes, tables, unseen_calls);
  sites_note(notes, tables, SITE_SIGNAL, 1,
             "allocations made by signal handlers that interrupted heaptide have no stack");
  sites_note(notes, tables, SITE_SIGNAL_MAP, 1,
             "mappings made by signal handlers that interrupted heaptide have no stack");
  peak_note(notes, tables);
  sites_note(notes, tables, SITE_OVERFLOW, HT_KIND_COUNT,
             "the table of allocation sites was full: later sites are shown as one");
}

void notes_write(const struct report_notes *notes, struct writer *writer) {
  writer_section(writer, HT_SECTION_NOTES);
  writer_add(writer, notes->refs.data, notes->refs.bytes);
  writer_section_end(writer);
}

void notes_drop(struct report_notes *notes) { buffer_drop(&notes->refs); }
