#include "workers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fork_family.h"
#include "memory.h"

// ---- what makes processes alike

struct candidate {
  size_t report; // index in the set
  uint32_t parent_pid;
  char *words; // the program and its arguments, each run of digits as one `0`
};

// Who forked it, also when that one has ended before it.
static uint32_t parent_of(const struct report *report) {
  uint32_t forked_from = report->resident ? report->resident->forked_from : 0;
  return forked_from ? forked_from : report->process->ppid;
}

// Returns the end of what was written.
static char *word_add(char *at, const char *word) {
  for (; *word; word++)
    if (!isdigit((unsigned char)*word))
      *at++ = *word;
    else if (!isdigit((unsigned char)word[1]))
      *at++ = '0';
  *at++ = '\n';
  return at;
}

static char *words_make(const struct report *report) {
  const struct ht_file_process *process = report->process;
  const char *exe = report->strings + process->exe, *argument = report->strings + process->argv, *end = argument;
  for (uint32_t i = 0; i < process->argc; i++) end += strlen(end) + 1;
  char *words = memory_get(strlen(exe) + 2 + (size_t)(end - argument), 1), *at = word_add(words, exe);
  for (; argument < end; argument += strlen(argument) + 1) at = word_add(at, argument);
  *at = 0;
  return words;
}

// An image that went on as another program is no process of its own, nor is one that a runtime started for itself a
// worker of the program.
static bool may_be_worker(const struct judgement *judgement) {
  return judgement->report->process->reason != HT_REASON_EXEC && !judgement->helper;
}

static int alike_compare(const struct candidate *a, const struct candidate *b) {
  if (a->parent_pid != b->parent_pid) return a->parent_pid < b->parent_pid ? -1 : 1;
  return strcmp(a->words, b->words);
}

static int candidate_compare(const void *left, const void *right) {
  const struct candidate *a = left, *b = right;
  int order = alike_compare(a, b);
  return order ? order : (a->report > b->report) - (a->report < b->report);
}

static struct candidate *candidates_make(const struct report_set *set, size_t *count) {
  struct candidate *candidates = memory_get(set->count, sizeof *candidates);
  *count = 0;
  for (size_t i = 0; i < set->count; i++) {
    const struct report *report = &set->reports[i];
    if (!may_be_worker(&set->judgements[i])) continue;
    candidates[(*count)++] = (struct candidate){i, parent_of(report), words_make(report)};
  }
  if (*count) qsort(candidates, *count, sizeof *candidates, candidate_compare);
  return candidates;
}

// ---- groups

static struct worker_group group_make(const struct report_set *set, const struct candidate *first, size_t count) {
  struct worker_group group = {.count = count, .parent_pid = first->parent_pid};
  group.members = memory_get(count, sizeof *group.members);
  for (size_t i = 0; i < count; i++) {
    const struct judgement *judgement = &set->judgements[first[i].report];
    group.members[i] = first[i].report;
    range_add(&group.peak, judgement->report->process->peak_bytes);
    if (judgement_leaks_known(judgement))
      range_add(&group.leaked, judgement->leaked_direct_bytes + judgement->leaked_indirect_bytes);
  }
  return group;
}

static int group_compare(const void *left, const void *right) {
  const struct worker_group *a = left, *b = right;
  return (a->members[0] > b->members[0]) - (a->members[0] < b->members[0]);
}

struct workers workers_make(const struct report_set *set) {
  size_t count, end;
  struct candidate *candidates = candidates_make(set, &count);
  struct workers workers = {.groups = memory_get(set->count, sizeof *workers.groups)};
  for (size_t first = 0; first < count; first = end) {
    for (end = first + 1; end < count && alike_compare(&candidates[first], &candidates[end]) == 0;) end++;
    if (end - first > 1) workers.groups[workers.count++] = group_make(set, &candidates[first], end - first);
  }
  if (workers.count) qsort(workers.groups, workers.count, sizeof *workers.groups, group_compare);
  for (size_t i = 0; i < count; i++) free(candidates[i].words);
  free(candidates);
  return workers;
}

void workers_tell(const struct workers *workers, struct report_set *set) {
  for (size_t i = 0; i < workers->count; i++)
    for (size_t j = 0; j < workers->groups[i].count; j++)
      set->judgements[workers->groups[i].members[j]].workers = &workers->groups[i];
}

void workers_free(struct workers *workers) {
  for (size_t i = 0; i < workers->count; i++) free(workers->groups[i].members);
  free(workers->groups);
  *workers = (struct workers){0};
}
