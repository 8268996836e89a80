#include "diff_page.h"

#include <stdlib.h>
#include <string.h>

#include "holders.h"
#include "json_marks.h"
#include "json_out.h"
#include "memory.h"
#include "page_columns.h"
#include "program_name.h"
#include "text_table.h"
#include "units.h"
#include "utf8.h"

static const char *const side_names[] = {"base", "new"};

// ---- facts

static void process_write(struct json_out *out, const char *key, const struct judgement *judgement,
                          const struct figures *totals) {
  if (!judgement) {
    out_null(out, key);
    return;
  }
  const struct report *report = judgement->report;
  const struct ht_file_process *process = report->process;
  out_open(out, key, '{');
  out_count(out, "pid", process->pid);
  out_number(out, "seconds", seconds_of(process->duration_ns), 6);
  out_text(out, "label", process->label ? report->strings + process->label : NULL);
  out_count(out, "leaked", totals->bytes[FIGURE_LEAKED]);
  out_count(out, "live", totals->bytes[FIGURE_LIVE]);
  out_count(out, "peak", totals->bytes[FIGURE_PEAK]);
  out_count(out, "allocations", totals->allocations);
  out_close(out, '}');
}

static void pair_write(struct json_out *out, const struct comparison *comparison) {
  char name[PROGRAM_NAME_BYTES];
  const struct judgement *new = comparison->judgements[SIDE_NEW], *base = comparison->judgements[SIDE_BASE];
  program_name_of((new ? new : base)->report, name);
  out_open(out, NULL, '{');
  out_text(out, "name", name);
  for (int side = 0; side < SIDE_COUNT; side++)
    process_write(out, side_names[side], comparison->judgements[side], &comparison->totals[side]);
  out_count(out, "sites", comparison->site_count);
  out_open(out, "notes", '[');
  for (size_t i = 0; i < comparison->note_count; i++) out_text(out, NULL, comparison->notes[i]);
  out_close(out, ']');
  json_mark_pairs(out, comparison);
  out_close(out, '}');
}

static struct page_part facts_make(const struct comparison_list *list, const char *base, const char *new) {
  struct page_part facts = {0};
  FILE *stream = open_memstream(&facts.data, &facts.bytes);
  struct json_out out = {.stream = stream};
  out_open(&out, NULL, '{');
  out_text(&out, "heaptide", HEAPTIDE_VERSION);
  out_text(&out, "base", base);
  out_text(&out, "new", new);
  out_open(&out, "pairs", '[');
  for (size_t i = 0; i < list->count; i++) pair_write(&out, &list->items[i]);
  out_close(&out, ']');
  out_close(&out, '}');
  fclose(stream);
  return facts;
}

// ---- columns

typedef uint64_t link_value(const struct chain_link *link, size_t number, struct text_table *texts);

static uint64_t link_up(const struct chain_link *link, size_t number, struct text_table *texts) {
  (void)texts;
  return number - link->parent; // a parent is made before what it calls
}

static uint32_t text_number(struct text_table *texts, const char *text) {
  char *clean = utf8_text(text);
  uint32_t number = text_table_number(texts, clean);
  free(clean);
  return number;
}

static uint64_t link_name(const struct chain_link *link, size_t number, struct text_table *texts) {
  (void)number;
  return text_number(texts, link->function);
}

// "demo.c:34": where the first of its frames was.
static uint64_t link_place(const struct chain_link *link, size_t number, struct text_table *texts) {
  (void)number;
  const struct shown_frame *frame = link->frame;
  if (!frame->file) return text_number(texts, frame->module ? path_name(frame->module) : "");
  char *place = frame->line ? memory_format("%s:%u", path_name(frame->file), frame->line)
                            : memory_format("%s", path_name(frame->file));
  uint32_t found = text_number(texts, place);
  free(place);
  return found;
}

static void links_write(FILE *stream, const struct chains *chains, struct text_table *texts) {
  static const struct {
    const char *name;
    enum column_coding coding;
    link_value *value;
  } columns[] = {
      {"link_up", COLUMN_PLAIN, link_up},
      {"link_name", COLUMN_DELTA, link_name},
      {"link_place", COLUMN_DELTA, link_place},
  };
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    struct page_column column = column_begin(stream, columns[i].name, columns[i].coding, chains->count - 1);
    for (size_t k = 1; k < chains->count; k++) column_add(&column, columns[i].value(&chains->links[k], k, texts));
  }
}

static uint64_t site_chain(const struct compared_site *site) { return site->chain; }
static uint64_t site_kind(const struct compared_site *site) { return site->kind; }
static uint64_t site_change(const struct compared_site *site) { return site->change; }
static uint64_t site_figure(const struct compared_site *site) { return site->figure; }

static struct page_column sites_begin(FILE *stream, const struct comparison_list *list, const char *name) {
  size_t count = 0;
  for (size_t i = 0; i < list->count; i++) count += list->items[i].site_count;
  return column_begin(stream, name, COLUMN_DELTA, count);
}

static void site_column(FILE *stream, const struct comparison_list *list, const char *name,
                        uint64_t (*value)(const struct compared_site *site)) {
  struct page_column column = sites_begin(stream, list, name);
  for (size_t i = 0; i < list->count; i++)
    for (size_t k = 0; k < list->items[i].site_count; k++) column_add(&column, value(&list->items[i].sites[k]));
}

// `figure` FIGURE_COUNT: the number of allocations.
static void figure_column(FILE *stream, const struct comparison_list *list, const char *name, int side, int figure) {
  struct page_column column = sites_begin(stream, list, name);
  for (size_t i = 0; i < list->count; i++)
    for (size_t k = 0; k < list->items[i].site_count; k++) {
      const struct figures *figures = &list->items[i].sites[k].sides[side];
      column_add(&column, figure == FIGURE_COUNT ? figures->allocations : figures->bytes[figure]);
    }
}

static void sites_write(FILE *stream, const struct comparison_list *list) {
  static const char *const figure_names[] = {"leaked", "live", "peak", "allocations"};
  site_column(stream, list, "site_chain", site_chain);
  site_column(stream, list, "site_kind", site_kind);
  site_column(stream, list, "site_change", site_change);
  site_column(stream, list, "site_figure", site_figure);
  for (int side = 0; side < SIDE_COUNT; side++)
    for (int figure = 0; figure <= FIGURE_COUNT; figure++) {
      char *name = memory_format("%s_%s", side_names[side], figure_names[figure]);
      figure_column(stream, list, name, side, figure);
      free(name);
    }
}

struct page_data diff_page_make(const struct comparison_list *list, const char *base, const char *new) {
  struct page_data data = {.facts = facts_make(list, base, new)};
  struct text_table texts = {0};
  text_table_number(&texts, ""); // text 0 is left out in the page
  FILE *columns = open_memstream(&data.columns.data, &data.columns.bytes);
  links_write(columns, &list->chains, &texts);
  sites_write(columns, list);
  fclose(columns);
  FILE *stream = open_memstream(&data.texts.data, &data.texts.bytes);
  for (size_t i = 1; i < texts.count; i++) fwrite(texts.texts[i], 1, strlen(texts.texts[i]) + 1, stream);
  fclose(stream);
  text_table_free(&texts);
  return data;
}
