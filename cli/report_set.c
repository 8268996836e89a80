#include "report_set.h"

#include <stdlib.h>

#include "memory.h"
#include "problem.h"
#include "progress.h"
#include "report_folder.h"

// ---- reading

static bool is_main(const struct report *report) { return report->process->flags & HT_PROCESS_MAIN; }

static int numbers_compare(uint64_t one, uint64_t other) { return one < other ? -1 : one > other; }

static int report_compare(const void *left, const void *right) {
  const struct report *a = left, *b = right;
  int order = is_main(b) - is_main(a);
  order = order ? order : numbers_compare(a->process->started_unix_ns, b->process->started_unix_ns);
  order = order ? order : numbers_compare(a->process->pid, b->process->pid);
  return order ? order : numbers_compare(a->process->image, b->process->image);
}

static uint64_t report_end_ns(const struct report *report) {
  return report->process->started_unix_ns + report->process->duration_ns;
}

// Takes the report over. Of one (pid, image) only the one that was written last stays.
static void report_add(struct report_set *set, struct report *report, size_t *capacity) {
  for (size_t i = 0; i < set->count; i++) {
    struct report *other = &set->reports[i];
    if (other->process->pid != report->process->pid || other->process->image != report->process->image) continue;
    bool newer = report_end_ns(report) > report_end_ns(other);
    report_free(newer ? other : report);
    if (newer) *other = *report;
    return;
  }
  set->reports = memory_grow(set->reports, set->count, capacity, sizeof *set->reports);
  set->reports[set->count++] = *report;
}

static void file_load(struct report_set *set, const char *path, uint64_t pid, size_t *capacity) {
  struct problem problem;
  struct report report;
  if (!report_load(path, &report, &problem)) {
    progress_clear();
    problem_print(path, problem.why, problem.todo);
    set->damaged_count++;
  } else if (pid && report.process->pid != pid) {
    report_free(&report);
  } else {
    report_add(set, &report, capacity);
  }
}

bool report_set_load(struct report_set *set, const char *folder, uint64_t pid) {
  struct problem problem;
  struct report_paths found;
  size_t capacity = 0;
  *set = (struct report_set){0};
  if (!report_paths_find(folder, &found, &problem)) {
    problem_print(folder, problem.why, problem.todo);
    return false;
  }
  for (size_t i = 0; i < found.count; i++) {
    progress_show("reading reports", i, found.count);
    if (!pid || !found.pids[i] || found.pids[i] == pid) file_load(set, found.paths[i], pid, &capacity);
  }
  progress_clear();
  report_paths_free(&found);
  if (set->count == 0 && set->damaged_count == 0)
    problem_print(folder, "holds no report of that process", "see heaptide report --json for their pids");
  if (set->count) qsort(set->reports, set->count, sizeof *set->reports, report_compare);
  return set->count > 0;
}

// ---- judging

void report_set_judge(struct report_set *set, const struct judgement_rules *rules) {
  struct stack_wishes *wishes = memory_get(set->count, sizeof *wishes);
  set->stacks = memory_get(set->count, sizeof *set->stacks);
  set->judgements = memory_get(set->count, sizeof *set->judgements);
  for (size_t i = 0; i < set->count; i++) wishes[i] = stacks_want(&set->reports[i], &set->symbols);
  symbols_resolve(&set->symbols);
  for (size_t i = 0; i < set->count; i++) {
    stacks_make(&set->stacks[i], &set->reports[i], &set->symbols, &wishes[i]);
    set->judgements[i] = judgement_make(&set->reports[i], &set->stacks[i], &set->symbols, wishes[i].modules, rules);
    stack_wishes_free(&wishes[i]);
  }
  free(wishes);
}

void report_set_free(struct report_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    if (set->judgements) judgement_free(&set->judgements[i]);
    if (set->stacks) stacks_free(&set->stacks[i]);
    report_free(&set->reports[i]);
  }
  free(set->judgements);
  free(set->stacks);
  free(set->reports);
  symbols_free(&set->symbols);
  *set = (struct report_set){0};
}
