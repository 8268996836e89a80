#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "holders.h"
#include "memory.h"
#include "model.h"
#include "process_life.h"
#include "stacks.h"
#include "units.h"
#include "watch_threads.h"

#define FIRST_WAIT_MS 500 // for the checkpoint that a process was woken for
#define LOOK_MS 5

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// ---- rows

static int row_compare(const void *left, const void *right) {
  const struct view_row *a = left, *b = right;
  if (a->name != b->name) return (uintptr_t)a->name < (uintptr_t)b->name ? -1 : 1;
  return (uintptr_t)a->place < (uintptr_t)b->place ? -1 : a->place != b->place;
}

static struct view_row row_of(struct watch *watch, const struct shown_frame *frame) {
  char *name = frame ? frame_name(frame) : memory_format("[unknown]");
  char *place = frame && frame->file ? frame->line ? memory_format("%s:%u", path_name(frame->file), frame->line)
                                                   : memory_format("%s", path_name(frame->file))
                                     : memory_format("%s", "");
  struct view_row row = {.name = pool_text(&watch->texts, name), .place = pool_text(&watch->texts, place)};
  free(name);
  free(place);
  return row;
}

static void row_add(struct view_row *row, const struct view_row *other) {
  row->live_bytes += other->live_bytes;
  row->device_bytes += other->device_bytes;
  row->allocations += other->allocations;
}

// Equal ones become one; they are sorted.
static size_t rows_merge(struct view_row *rows, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (kept && row_compare(&rows[kept - 1], &rows[i]) == 0)
      row_add(&rows[kept - 1], &rows[i]);
    else
      rows[kept++] = rows[i];
  return kept;
}

static void rows_make(struct watch *watch, struct view *view, const struct report *report,
                      const struct stacks *stacks) {
  view->rows = memory_get(report->site_count, sizeof *view->rows);
  for (uint32_t i = 1; i < report->site_count; i++) {
    const struct ht_file_site *site = &report->sites[i];
    struct view_row *row = &view->rows[view->row_count++];
    *row = row_of(watch, stack_site(stacks, stacks->of_site[i]));
    row->live_bytes = site->live_bytes;
    row->device_bytes = site->kind == HT_KIND_DEVICE ? site->live_bytes : 0;
    row->allocations = site->allocations;
  }
  qsort(view->rows, view->row_count, sizeof *view->rows, row_compare);
  view->row_count = rows_merge(view->rows, view->row_count);
}

static void totals_make(struct view *view, const struct report *report) {
  const struct ht_file_process *process = report->process;
  view->live_bytes = process->live_bytes;
  view->peak_bytes = process->peak_bytes;
  view->device_bytes = process->kinds[HT_KIND_DEVICE].live_bytes;
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) {
    view->allocations += process->kinds[kind].allocations;
    view->calls += process->kinds[kind].allocations + process->kinds[kind].frees;
  }
}

static struct view view_make(struct watch *watch, const struct report *report) {
  struct view view = {0};
  struct stacks stacks;
  struct stack_wishes wishes = stacks_want(report, &watch->symbols);
  symbols_resolve(&watch->symbols);
  stacks_make(&stacks, report, &watch->symbols, &wishes);
  rows_make(watch, &view, report, &stacks);
  totals_make(&view, report);
  watch_threads_make(&view, report, &watch->texts);
  stacks_free(&stacks);
  stack_wishes_free(&wishes);
  return view;
}

// The same figures once more: live bytes change only where the process would have written a new checkpoint.
static struct view view_repeat(const struct view *last) {
  struct view view = *last;
  view.rows = memory_get(last->row_count, sizeof *view.rows);
  memcpy(view.rows, last->rows, last->row_count * sizeof *view.rows);
  view.thread_rows = memory_get(last->thread_row_count, sizeof *view.thread_rows);
  memcpy(view.thread_rows, last->thread_rows, last->thread_row_count * sizeof *view.thread_rows);
  return view;
}

// ---- rates

static double rate(uint64_t now, uint64_t before, double seconds) {
  return seconds > 0 ? (double)(int64_t)(now - before) / seconds : 0;
}

static void rates_set(struct view *view, const struct view *before) {
  double seconds = view->at_s - before->at_s;
  view->allocations_per_s = rate(view->allocations, before->allocations, seconds);
  for (size_t i = 0; i < view->row_count; i++) {
    static const struct view_row none;
    struct view_row *row = &view->rows[i];
    const struct view_row *old = bsearch(row, before->rows, before->row_count, sizeof *row, row_compare);
    if (!old) old = &none;
    row->growth_bytes_per_s = rate(row->live_bytes, old->live_bytes, seconds);
    row->allocations_per_s = rate(row->allocations, old->allocations, seconds);
  }
  watch_threads_rates(view, before, seconds);
}

static void view_free(struct view *view) {
  free(view->rows);
  free(view->thread_rows);
}

static void view_push(struct watch *watch, struct view view) {
  if (watch->view_count == WATCH_VIEWS) {
    view_free(&watch->views[0]);
    memmove(watch->views, watch->views + 1, (WATCH_VIEWS - 1) * sizeof *watch->views);
    watch->view_count--;
  }
  watch->views[watch->view_count++] = view;
  rates_set(&watch->views[watch->view_count - 1], &watch->views[0]);
}

static void views_drop(struct watch *watch) {
  for (int i = 0; i < watch->view_count; i++) view_free(&watch->views[i]);
  watch->view_count = 0;
}

// ---- what the kernel knows

static void kernel_look(const struct watch *watch, struct view *view) {
  char path[64], line[256];
  unsigned long long resident_kib;
  snprintf(path, sizeof path, "/proc/%d/status", (int)watch->traced.pid);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "VmRSS: %llu", &resident_kib) == 1) view->rss_bytes = resident_kib * 1024;
    sscanf(line, "Threads: %u", &view->threads);
  }
  if (file) fclose(file);
}

// ---- checkpoints

static void slot_path(const struct watch *watch, int slot, char path[PATH_MAX + 80]) {
  snprintf(path, PATH_MAX + 80, "%s/.%s.live%s", watch->folder, watch->traced.stem, slot ? "2" : "");
}

static bool is_newer(const struct stat *one, const struct stat *other) {
  if (one->st_mtim.tv_sec != other->st_mtim.tv_sec) return one->st_mtim.tv_sec > other->st_mtim.tv_sec;
  return one->st_mtim.tv_nsec > other->st_mtim.tv_nsec;
}

// Both files, the newer one first. False: none is there.
static bool slots_find(const struct watch *watch, int order[2], struct stat found[2]) {
  char path[PATH_MAX + 80];
  bool there = false;
  for (int slot = 0; slot < 2; slot++) {
    slot_path(watch, slot, path);
    found[slot] = (struct stat){0};
    there |= stat(path, &found[slot]) == 0;
  }
  order[0] = is_newer(&found[1], &found[0]);
  order[1] = !order[0];
  return there;
}

static bool is_read_already(const struct watch *watch, const struct stat *found) {
  return watch->view_count && found->st_ino == watch->read.st_ino && !is_newer(found, &watch->read);
}

static void report_view(struct watch *watch, const struct report *report, const struct stat *found) {
  struct view view = view_make(watch, report);
  program_name_of(report, watch->program);
  watch->started_unix_ns = report->process->started_unix_ns;
  watch->estimated = report_is_estimated(report);
  watch->read = *found;
  watch->read_at_s = now_s();
  watch->read_s = view.at_s = seconds_of(report->process->duration_ns);
  if (!watch->view_count || view.calls != watch_view(watch)->calls) watch->woken = false;
  watch->activity = 0;
  kernel_look(watch, &view);
  view_push(watch, view);
}

// The newer file may be half written; the other one is whole then, unless it is known already. False: nothing new.
static bool newest_read(struct watch *watch, const int order[2], const struct stat found[2]) {
  char path[PATH_MAX + 80];
  struct report report;
  struct problem problem;
  for (int i = 0; i < 2; i++) {
    const struct stat *slot = &found[order[i]];
    if (!slot->st_size || is_read_already(watch, slot)) continue;
    if (watch->view_count && is_newer(&watch->read, slot)) continue;
    slot_path(watch, order[i], path);
    if (!report_load(path, &report, &problem)) continue;
    report_view(watch, &report, slot);
    report_free(&report);
    return true;
  }
  return false;
}

// Live bytes as they were last, with no change since.
static void view_again(struct watch *watch) {
  struct view view = view_repeat(watch_view(watch));
  view.at_s = watch->read_s + now_s() - watch->read_at_s;
  kernel_look(watch, &view);
  view_push(watch, view);
}

static void wake(struct watch *watch) {
  if (!watch->woken) traced_wake(watch->traced.pid);
  watch->woken = true;
}

// A process that allocates little writes none for minutes. One that has not run since its answer has nothing to say.
static void wake_if_run(struct watch *watch) {
  uint64_t activity = process_activity((uint32_t)watch->traced.pid);
  if (watch->activity && watch->activity != activity) watch->woken = false, activity = 0;
  watch->activity = activity;
  wake(watch);
}

// After an exec it goes on under another name.
static bool image_follow(struct watch *watch) {
  struct traced_list list;
  bool found = false;
  if (!traced_find(watch->folder, &list)) return false;
  for (size_t i = 0; i < list.count && !found; i++) {
    found = list.table[i].pid == watch->traced.pid;
    if (found) watch->traced = list.table[i];
  }
  traced_free(&list);
  if (found) views_drop(watch);
  return found;
}

static bool is_alive(const struct watch *watch) {
  if (!watch->started_unix_ns) return !process_has_ended((uint32_t)watch->traced.pid);
  return process_lives((uint32_t)watch->traced.pid, watch->started_unix_ns);
}

void watch_look(struct watch *watch) {
  int order[2];
  struct stat found[2];
  bool there = slots_find(watch, order, found);
  if (!is_alive(watch)) {
    watch->state = WATCH_ENDED;
  } else if (!there && !image_follow(watch)) {
    watch->state = WATCH_LEFT;
  } else {
    if (!there || !newest_read(watch, order, found)) {
      wake_if_run(watch);
      if (watch->view_count) view_again(watch);
    }
    watch->state = watch->view_count ? WATCH_RUNS : WATCH_NOTHING;
  }
}

// What its counters say may be a sampling period old: it is woken, and its answer waited for.
void watch_begin(struct watch *watch, const char *folder, const struct traced *traced) {
  *watch = (struct watch){.traced = *traced};
  snprintf(watch->folder, sizeof watch->folder, "%s", folder);
  int order[2];
  struct stat before[2], found[2];
  slots_find(watch, order, before);
  wake(watch);
  double until_s = now_s() + FIRST_WAIT_MS / 1e3;
  do {
    nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
  } while (slots_find(watch, order, found) && !is_newer(&found[order[0]], &before[is_newer(&before[1], &before[0])]) &&
           now_s() < until_s);
  watch_look(watch);
}

void watch_end(struct watch *watch) {
  views_drop(watch);
  symbols_free(&watch->symbols);
  pool_free(&watch->texts);
}
