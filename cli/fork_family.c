#include "fork_family.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

const struct ht_file_resident *fork_figures(const struct report *report) {
  return report->resident && report->resident->flags & HT_RESIDENT_KNOWN ? report->resident : NULL;
}

// ---- who comes from whom

static const struct ht_file_process *process_at(const struct report_set *set, size_t report) {
  return set->reports[report].process;
}

static uint32_t forked_from(const struct report_set *set, size_t report) {
  const struct ht_file_resident *resident = set->reports[report].resident;
  return resident ? resident->forked_from : 0;
}

// Of that pid's images the one that ran when `child` began. A set is in the order of starts, the main process first.
static size_t parent_find(const struct report_set *set, size_t child) {
  size_t parent = FORK_NO_PARENT;
  uint64_t latest_ns = 0;
  for (size_t i = 0; i < set->count; i++) {
    const struct ht_file_process *process = process_at(set, i);
    if (i == child || process->pid != forked_from(set, child) || !set->reports[i].resident) continue;
    if (process->started_unix_ns > process_at(set, child)->started_unix_ns || process->started_unix_ns < latest_ns)
      continue;
    parent = i;
    latest_ns = process->started_unix_ns;
  }
  return parent;
}

// The report that a family is known by: that of the first process, or of the first that came from one without a report.
static void firsts_find(const struct report_set *set, const size_t *parents, size_t *firsts) {
  for (size_t i = 0; i < set->count; i++) {
    firsts[i] = i;
    for (size_t steps = 0; parents[firsts[i]] != FORK_NO_PARENT && steps < set->count; steps++)
      firsts[i] = parents[firsts[i]];
  }
  for (size_t i = 0; i < set->count; i++) { // brothers and sisters of a parent that has no report
    uint32_t pid = forked_from(set, firsts[i]);
    for (size_t j = 0; pid && j < i; j++)
      if (forked_from(set, firsts[j]) == pid && parents[firsts[j]] == FORK_NO_PARENT) {
        firsts[i] = firsts[j];
        break;
      }
  }
}

static void members_take(struct fork_family *family, const struct report_set *set, const size_t *parents,
                         const size_t *firsts, size_t first) {
  size_t *places = memory_get(set->count, sizeof *places);
  family->members = memory_get(set->count, sizeof *family->members);
  for (size_t i = first; i < set->count; i++) {
    if (firsts[i] != first || !set->reports[i].resident) continue;
    places[i] = family->count;
    family->members[family->count++] =
        (struct fork_member){.report = i, .parent = parents[i], .parent_pid = forked_from(set, i)};
  }
  for (size_t i = 0; i < family->count; i++) {
    struct fork_member *member = &family->members[i];
    if (member->parent != FORK_NO_PARENT) member->parent = places[member->parent];
  }
  free(places);
}

// ---- sums

static uint64_t end_ns(const struct ht_file_process *process) {
  return process->started_unix_ns + process->duration_ns;
}

static bool ends_later(const struct report_set *set, size_t one, size_t other) {
  uint64_t a = end_ns(process_at(set, one)), b = end_ns(process_at(set, other));
  return a != b ? a > b : one > other;
}

static uint64_t shared_of(const struct ht_file_resident *figures) {
  return figures->shared_bytes < figures->anonymous_bytes ? figures->shared_bytes : figures->anonymous_bytes;
}

static bool goes_on(const struct report *report) { return report->process->reason == HT_REASON_SNAPSHOT; }

static const struct ht_file_resident *figures_of(const struct fork_family *family, const struct report_set *set,
                                                 size_t member) {
  return fork_figures(&set->reports[family->members[member].report]);
}

// The one that ends last, of those with figures; FORK_NO_PARENT: none has, or it goes on.
static size_t last_find(const struct fork_family *family, const struct report_set *set) {
  size_t last = FORK_NO_PARENT;
  for (size_t i = 0; i < family->count; i++) {
    if (!figures_of(family, set, i)) continue;
    if (last == FORK_NO_PARENT || ends_later(set, family->members[i].report, family->members[last].report)) last = i;
  }
  bool ended = last != FORK_NO_PARENT && !goes_on(&set->reports[family->members[last].report]);
  return ended ? last : FORK_NO_PARENT;
}

// Of the processes that go on the one that shares most; FORK_NO_PARENT: none does.
static size_t widest_find(const struct fork_family *family, const struct report_set *set) {
  size_t widest = FORK_NO_PARENT;
  uint64_t most_bytes = 0;
  for (size_t i = 0; i < family->count; i++) {
    const struct ht_file_resident *figures = figures_of(family, set, i);
    if (!figures || !goes_on(&set->reports[family->members[i].report]) || shared_of(figures) <= most_bytes) continue;
    most_bytes = shared_of(figures);
    widest = i;
  }
  return widest;
}

static bool comes_from(const struct fork_family *family, size_t member, size_t ancestor) {
  for (size_t steps = 0; steps < family->count; steps++) {
    member = family->members[member].parent;
    if (member == ancestor || member == FORK_NO_PARENT) return member == ancestor;
  }
  return false;
}

// What `member` shared with its ancestor at most: no more than any process between them did, and not what a process
// that came from `member`, and ended after it, has counted as its own.
static uint64_t shared_with_ancestor(const struct fork_family *family, const struct report_set *set, size_t member,
                                     size_t ancestor) {
  uint64_t bytes = shared_of(figures_of(family, set, member)), others = 0;
  for (size_t at = member; at != ancestor; at = family->members[at].parent) {
    const struct ht_file_resident *figures = figures_of(family, set, at);
    if (figures && shared_of(figures) < bytes) bytes = shared_of(figures);
  }
  for (size_t i = 0; i < family->count; i++)
    if (i != member && comes_from(family, i, member) &&
        ends_later(set, family->members[i].report, family->members[member].report))
      others += family->members[i].counted_bytes;
  return bytes > others ? bytes - others : 0;
}

// What processes that came from `member` and have ended shared with it: it may have given that back since.
static uint64_t held_for_others(const struct fork_family *family, const struct report_set *set, size_t member) {
  uint64_t most_bytes = 0;
  for (size_t i = 0; i < family->count; i++) {
    const struct report *report = &set->reports[family->members[i].report];
    if (!fork_figures(report) || goes_on(report) || !comes_from(family, i, member)) continue;
    uint64_t bytes = shared_with_ancestor(family, set, i, member);
    most_bytes = bytes > most_bytes ? bytes : most_bytes;
  }
  return most_bytes;
}

static void sums_make(struct fork_family *family, const struct report_set *set) {
  size_t running = widest_find(family, set), last = last_find(family, set);
  for (size_t i = 0; i < family->count; i++) {
    const struct ht_file_resident *figures = figures_of(family, set, i);
    family->unknown += !figures;
    if (!figures) continue;
    bool counts_shared = i == running || i == last;
    family->members[i].counted_bytes = figures->anonymous_bytes - (counts_shared ? 0 : shared_of(figures));
    family->anonymous_bytes += figures->anonymous_bytes;
    family->shared_bytes += shared_of(figures);
  }
  if (last != FORK_NO_PARENT) {
    uint64_t *counted_bytes = &family->members[last].counted_bytes, held_bytes = held_for_others(family, set, last);
    if (*counted_bytes < held_bytes) *counted_bytes = held_bytes;
  }
  for (size_t i = 0; i < family->count; i++) family->once_bytes += family->members[i].counted_bytes;
}

// ---- sites

static bool text_equal(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool frame_equal(const struct shown_frame *a, const struct shown_frame *b) {
  if (!a || !b) return a == b;
  return text_equal(a->function, b->function) && text_equal(a->file, b->file) && text_equal(a->module, b->module) &&
         a->line == b->line;
}

static struct fork_site *site_find(struct fork_family *family, uint32_t kind, const struct shown_frame *frame,
                                   size_t *capacity) {
  for (size_t i = 0; i < family->site_count; i++)
    if (family->sites[i].kind == kind && frame_equal(family->sites[i].frame, frame)) return &family->sites[i];
  family->sites = memory_grow(family->sites, family->site_count, capacity, sizeof *family->sites);
  family->sites[family->site_count] = (struct fork_site){.kind = kind, .frame = frame};
  return &family->sites[family->site_count++];
}

// Of one process: several of its sites may be shown as one.
static void sites_add(struct fork_family *family, const struct report *report, const struct stacks *stacks,
                      size_t *capacity) {
  struct fork_family own = {0};
  size_t own_capacity = 0;
  for (uint32_t i = 0; i < report->shared_site_count; i++) {
    const struct ht_file_shared_site *shared = &report->shared_sites[i];
    const struct shown_frame *frame = stack_site(stacks, stacks->of_site[shared->site]);
    site_find(&own, report->sites[shared->site].kind, frame, &own_capacity)->bytes += shared->bytes;
  }
  for (size_t i = 0; i < own.site_count; i++) {
    struct fork_site *site = site_find(family, own.sites[i].kind, own.sites[i].frame, capacity);
    if (own.sites[i].bytes > site->bytes) site->bytes = own.sites[i].bytes;
    site->processes++;
  }
  free(own.sites);
}

static int site_compare(const void *left, const void *right) {
  const struct fork_site *a = left, *b = right;
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  return (a->processes < b->processes) - (a->processes > b->processes);
}

static void sites_make(struct fork_family *family, const struct report_set *set) {
  size_t capacity = 0;
  for (size_t i = 0; i < family->count; i++) {
    size_t report = family->members[i].report;
    sites_add(family, &set->reports[report], &set->stacks[report], &capacity);
  }
  if (family->site_count) qsort(family->sites, family->site_count, sizeof *family->sites, site_compare);
}

// ---- all

static void family_free(struct fork_family *family) {
  free(family->members);
  free(family->sites);
}

// By the report that a family is known by.
static size_t *sizes_count(const struct report_set *set, const size_t *firsts) {
  size_t *sizes = memory_get(set->count, sizeof *sizes);
  for (size_t i = 0; i < set->count; i++) sizes[firsts[i]] += set->reports[i].resident != NULL;
  return sizes;
}

static struct fork_family family_make(const struct report_set *set, const size_t *parents, const size_t *firsts,
                                      size_t first) {
  struct fork_family family = {0};
  members_take(&family, set, parents, firsts, first);
  sums_make(&family, set);
  sites_make(&family, set);
  return family;
}

struct fork_families fork_families_make(const struct report_set *set) {
  struct fork_families families = {.table = memory_get(set->count, sizeof *families.table)};
  size_t *parents = memory_get(set->count, sizeof *parents), *firsts = memory_get(set->count, sizeof *firsts);
  for (size_t i = 0; i < set->count; i++) parents[i] = forked_from(set, i) ? parent_find(set, i) : FORK_NO_PARENT;
  firsts_find(set, parents, firsts);
  size_t *sizes = sizes_count(set, firsts);
  for (size_t i = 0; i < set->count; i++) {
    if (firsts[i] != i || sizes[i] < 2) continue;
    families.table[families.count++] = family_make(set, parents, firsts, i);
  }
  free(sizes);
  free(parents);
  free(firsts);
  return families;
}

void fork_counted_tell(const struct fork_families *families, struct report_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    const struct ht_file_resident *figures = fork_figures(&set->reports[i]);
    set->judgements[i].counted_bytes = figures ? figures->anonymous_bytes : 0;
  }
  for (size_t i = 0; i < families->count; i++)
    for (size_t j = 0; j < families->table[i].count; j++) {
      const struct fork_member *member = &families->table[i].members[j];
      set->judgements[member->report].counted_bytes = member->counted_bytes;
    }
}

void fork_families_free(struct fork_families *families) {
  for (size_t i = 0; i < families->count; i++) family_free(&families->table[i]);
  free(families->table);
  *families = (struct fork_families){0};
}
