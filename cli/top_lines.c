#include "top_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "units.h"
#include "utf8.h"

// From this width on all columns are shown; below it live bytes, growth and the site.
#define WIDTH_OF_ALL 64
#define SITE_MIN 8 // a function's name is not cut shorter for its place

static const char *const table_words[TOP_TABLES] = {"sites", "threads"};
static const char *const sort_words[TOP_TABLES][TOP_BY_COUNT + 1] = {
    {"live", "growth", "allocations", "device", ""}, {"net", "growth", "allocations/s", "", "allocations"}};

// ---- order

static enum top_sort sorted_by; // qsort has no argument of its own

static double row_weight(const struct view_row *row) {
  switch (sorted_by) {
  case TOP_BY_GROWTH:
    return row->growth_bytes_per_s;
  case TOP_BY_ALLOCATIONS:
    return row->allocations_per_s;
  case TOP_BY_DEVICE:
    return (double)row->device_bytes;
  case TOP_BY_LIVE:
  case TOP_BY_COUNT:
    break;
  }
  return (double)row->live_bytes;
}

static int text_compare(const struct view_row *a, const struct view_row *b) {
  int order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->place, b->place);
}

// Equal ones by live bytes, then by name, so that rows do not change places for nothing.
static int weight_compare(const void *left, const void *right) {
  const struct view_row *a = *(const struct view_row *const *)left, *b = *(const struct view_row *const *)right;
  double first = row_weight(a), second = row_weight(b);
  if (first != second) return first > second ? -1 : 1;
  if (a->live_bytes != b->live_bytes) return a->live_bytes > b->live_bytes ? -1 : 1;
  return text_compare(a, b);
}

const struct view_row **top_sorted(const struct view *view, enum top_sort sort) {
  const struct view_row **rows = memory_get(view->row_count, sizeof *rows);
  for (size_t i = 0; i < view->row_count; i++) rows[i] = &view->rows[i];
  sorted_by = sort;
  qsort(rows, view->row_count, sizeof *rows, weight_compare);
  return rows;
}

// ---- lines

static bool is_control(const char *text, int bytes) {
  return (unsigned char)*text < ' ' || *text == 0x7f ||
         (bytes == 2 && (unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0);
}

void top_line_cut(char line[TOP_LINE_BYTES], const char *text, int width) {
  size_t used = 0;
  for (int left = width < TOP_WIDTH_MAX ? width : TOP_WIDTH_MAX; *text && left > 0; left--) {
    int bytes = utf8_length(text);
    if (bytes == 0 || is_control(text, bytes)) {
      line[used++] = '?';
      text += bytes ? bytes : 1;
    } else {
      memcpy(line + used, text, (size_t)bytes);
      used += (size_t)bytes;
      text += bytes;
    }
  }
  line[used] = 0;
}

void top_line_take(char line[TOP_LINE_BYTES], char *text, int width) {
  top_line_cut(line, text, width);
  free(text);
}

uint64_t top_rounded(double value) { return value > 0 ? (uint64_t)(value + 0.5) : 0; }

char *top_signed_text(char text[UNITS_TEXT], double bytes) {
  char size[UNITS_TEXT];
  uint64_t whole = top_rounded(bytes < 0 ? -bytes : bytes);
  snprintf(text, UNITS_TEXT, "%s%.20s", whole == 0 ? "" : bytes < 0 ? "-" : "+", bytes_text(size, whole));
  return text;
}

void top_line_process(char line[TOP_LINE_BYTES], const struct watch *watch, int width) {
  const struct view *view = watch_view(watch);
  char live[UNITS_TEXT], peak[UNITS_TEXT], calls[UNITS_TEXT], resident[UNITS_TEXT];
  top_line_take(
      line,
      memory_format("%.40s (%d)  live %s  peak %s  %s allocs/s  rss %s", watch->program, (int)watch->traced.pid,
                    bytes_text(live, view->live_bytes), bytes_text(peak, view->peak_bytes),
                    count_text(calls, top_rounded(view->allocations_per_s)), bytes_text(resident, view->rss_bytes)),
      width);
}

void top_line_more(char line[TOP_LINE_BYTES], const struct watch *watch, enum top_table table, enum top_sort sort,
                   int width) {
  const struct view *view = watch_view(watch);
  char device[UNITS_TEXT], up[UNITS_TEXT];
  top_line_take(line,
                memory_format("device %s  %u thread%s  up %s  %s by %s%s", bytes_text(device, view->device_bytes),
                              view->threads, view->threads == 1 ? "" : "s", seconds_text(up, view->at_s),
                              table_words[table], sort_words[table][sort],
                              watch->estimated ? "  estimated from a sample" : ""),
                width);
}

void top_line_heading(char line[TOP_LINE_BYTES], int width) {
  top_line_take(line,
                width < WIDTH_OF_ALL
                    ? memory_format("%8s %9s  %s", "LIVE", "GROWTH/s", "SITE")
                    : memory_format("%8s %9s %10s %8s  %s", "LIVE", "GROWTH/s", "ALLOCS/s", "DEVICE", "SITE"),
                width);
}

// Where both do not fit, the function's name is cut: its place says where to look.
static char *site_text(const struct view_row *row, int width) {
  int place = *row->place ? utf8_count(row->place) + 1 : 0, room = width - place;
  char name[TOP_LINE_BYTES];
  if (utf8_count(row->name) <= room || room < SITE_MIN || !place)
    return memory_format("%s%s%s", row->name, place ? " " : "", row->place);
  top_line_cut(name, row->name, room - 2);
  return memory_format("%s.. %s", name, row->place);
}

void top_line_row(char line[TOP_LINE_BYTES], const struct view_row *row, int width) {
  char live[UNITS_TEXT], growth[UNITS_TEXT], calls[UNITS_TEXT], device[UNITS_TEXT], *figures;
  bytes_text(live, row->live_bytes);
  top_signed_text(growth, row->growth_bytes_per_s);
  if (width < WIDTH_OF_ALL)
    figures = memory_format("%8s %9s  ", live, growth);
  else
    figures = memory_format("%8s %9s %10s %8s  ", live, growth, count_text(calls, top_rounded(row->allocations_per_s)),
                            bytes_text(device, row->device_bytes));
  char *site = site_text(row, width - (int)strlen(figures));
  top_line_take(line, memory_format("%s%s", figures, site), width);
  free(figures);
  free(site);
}
