#include "top_threads.h"

#include <stdio.h>
#include <stdlib.h>

#include "memory.h"

// From this width on all columns are shown; below it net bytes, calls per second and the name.
#define WIDTH_OF_ALL 64

// ---- order

static enum top_sort sorted_by; // qsort has no argument of its own

static double thread_weight(const struct view_thread *thread) {
  switch (sorted_by) {
  case TOP_BY_GROWTH:
    return thread->growth_bytes_per_s;
  case TOP_BY_ALLOCATIONS:
    return thread->allocations_per_s;
  case TOP_BY_COUNT:
    return (double)thread->allocations;
  case TOP_BY_LIVE:
  case TOP_BY_DEVICE:
    break;
  }
  return (double)thread->net_bytes;
}

// Those that have ended come last. Equal ones by what they allocated in all, then by tid, so that rows do not change
// places for nothing.
static int thread_compare(const void *left, const void *right) {
  const struct view_thread *a = *(const struct view_thread *const *)left;
  const struct view_thread *b = *(const struct view_thread *const *)right;
  double first = thread_weight(a), second = thread_weight(b);
  if (!a->tid != !b->tid) return a->tid ? -1 : 1;
  if (first != second) return first > second ? -1 : 1;
  if (a->allocations != b->allocations) return a->allocations > b->allocations ? -1 : 1;
  return (a->tid > b->tid) - (a->tid < b->tid);
}

const struct view_thread **top_threads_sorted(const struct view *view, enum top_sort sort) {
  const struct view_thread **threads = memory_get(view->thread_row_count, sizeof *threads);
  for (size_t i = 0; i < view->thread_row_count; i++) threads[i] = &view->thread_rows[i];
  sorted_by = sort;
  if (view->thread_row_count) qsort(threads, view->thread_row_count, sizeof *threads, thread_compare);
  return threads;
}

// ---- lines

void top_threads_heading(char line[TOP_LINE_BYTES], int width) {
  top_line_take(line,
                width < WIDTH_OF_ALL ? memory_format("%9s %10s  %s", "NET", "ALLOCS/s", "THREAD")
                                     : memory_format("%9s %9s %10s %13s %8s  %s", "NET", "GROWTH/s", "ALLOCS/s",
                                                     "ALLOCATIONS", "TID", "THREAD"),
                width);
}

static char *figures_all(const struct view_thread *thread) {
  char net[UNITS_TEXT], growth[UNITS_TEXT], rate[UNITS_TEXT], calls[UNITS_TEXT], tid[UNITS_TEXT] = "";
  if (thread->tid) snprintf(tid, sizeof tid, "%u", thread->tid);
  return memory_format("%9s %9s %10s %13s %8s", top_signed_text(net, (double)thread->net_bytes),
                       thread->tid ? top_signed_text(growth, thread->growth_bytes_per_s) : "",
                       thread->tid ? count_text(rate, top_rounded(thread->allocations_per_s)) : "",
                       count_text(calls, thread->allocations), tid);
}

static char *figures_narrow(const struct view_thread *thread) {
  char net[UNITS_TEXT], rate[UNITS_TEXT];
  return memory_format("%9s %10s", top_signed_text(net, (double)thread->net_bytes),
                       thread->tid ? count_text(rate, top_rounded(thread->allocations_per_s)) : "");
}

void top_threads_row(char line[TOP_LINE_BYTES], const struct view_thread *thread, int width) {
  char *figures = width < WIDTH_OF_ALL ? figures_narrow(thread) : figures_all(thread);
  top_line_take(line, memory_format("%s  %s", figures, *thread->name ? thread->name : "[no name]"), width);
  free(figures);
}
