#include "report_set.h"

#include <stdlib.h>

#include "checkpoints.h"
#include "memory.h"
#include "mojo_process.h"
#include "pid_namespace.h"
#include "problem.h"
#include "process_life.h"
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

// A checkpoint, and not of a process that lives on, has a reason of its own.
static bool replaces(const struct report *report, const struct report *other) {
  bool checkpoint = report->process->reason == HT_REASON_KILLED, both = other->process->reason == HT_REASON_KILLED;
  return checkpoint && !both ? checkpoint_is_wanted(report, other) : report_end_ns(report) > report_end_ns(other);
}

// Takes the report over. Of one (pid, image) only the one that was written last stays.
static void report_add(struct report_set *set, struct report *report, size_t *capacity) {
  for (size_t i = 0; i < set->count; i++) {
    struct report *other = &set->reports[i];
    if (other->process->pid != report->process->pid || other->process->image != report->process->image) continue;
    bool replaced = replaces(report, other);
    report_free(replaced ? other : report);
    if (replaced) *other = *report;
    return;
  }
  set->reports = memory_grow(set->reports, set->count, capacity, sizeof *set->reports);
  set->reports[set->count++] = *report;
}

static bool lives(const char *folder, const struct ht_file_process *process) {
  pid_t pid = pid_outside(folder, process->pid);
  return pid && process_lives((uint32_t)pid, process->started_unix_ns);
}

static void file_load(struct report_set *set, const char *folder, const char *path, uint64_t pid, size_t *capacity) {
  struct problem problem;
  struct report report;
  bool checkpoint = report_path_is_checkpoint(path);
  if (!report_load(path, &report, &problem)) {
    if (checkpoint) return;
    progress_clear();
    problem_print(path, problem.why, problem.todo);
    set->damaged_count++;
  } else if (pid && report.process->pid != pid) {
    report_free(&report);
  } else {
    if (checkpoint && lives(folder, report.process))
      ((struct ht_file_process *)report.process)->reason = HT_REASON_SNAPSHOT; // not killed so far
    report_add(set, &report, capacity);
  }
}

// The reports are in order: of one process by image.
static void replaced_find(struct report_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    struct report *report = &set->reports[i];
    if (report->process->reason != HT_REASON_EXEC) continue;
    for (size_t next = i + 1; next < set->count; next++)
      report->replaced |= set->reports[next].process->pid == report->process->pid;
  }
}

// A shell or a launcher of the run is no Python, and need not be one: it is said where none was found at all.
static void python_missed_find(struct report_set *set) {
  for (size_t i = 0; i < set->count; i++)
    if (set->reports[i].process->flags & (HT_PROCESS_PYTHON | HT_PROCESS_PYTHON_REFUSED)) return;
  for (size_t i = 0; i < set->count; i++) {
    struct report *report = &set->reports[i];
    report->python_missed = is_main(report) && !report->replaced && report->process->flags & HT_PROCESS_PYTHON_ABSENT;
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
    if (!pid || !found.pids[i] || found.pids[i] == pid) file_load(set, folder, found.paths[i], pid, &capacity);
  }
  progress_clear();
  report_paths_free(&found);
  if (set->count == 0 && set->damaged_count == 0)
    problem_print(folder, "holds no report of that process", "see heaptide report --json for their pids");
  if (set->count) qsort(set->reports, set->count, sizeof *set->reports, report_compare);
  replaced_find(set);
  if (!pid) python_missed_find(set);
  return set->count > 0;
}

// ---- judging

static bool *helpers_find(const struct report_set *set) {
  struct mojo_process *processes = memory_get(set->count, sizeof *processes);
  for (size_t i = 0; i < set->count; i++) processes[i] = mojo_process_of(&set->reports[i]);
  bool *helpers = mojo_helpers_find(processes, set->count);
  free(processes);
  return helpers;
}

void report_set_judge(struct report_set *set, const struct judgement_rules *rules) {
  struct stack_wishes *wishes = memory_get(set->count, sizeof *wishes);
  set->stacks = memory_get(set->count, sizeof *set->stacks);
  set->judgements = memory_get(set->count, sizeof *set->judgements);
  for (size_t i = 0; i < set->count; i++) wishes[i] = stacks_want(&set->reports[i], &set->symbols);
  symbols_resolve(&set->symbols);
  bool *helpers = helpers_find(set);
  for (size_t i = 0; i < set->count; i++) {
    stacks_make(&set->stacks[i], &set->reports[i], &set->symbols, &wishes[i]);
    set->judgements[i] =
        judgement_make(&set->reports[i], &set->stacks[i], &set->symbols, wishes[i].modules, rules, helpers[i]);
    stack_wishes_free(&wishes[i]);
  }
  free(helpers);
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
