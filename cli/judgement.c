#include "judgement.h"

#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "holders.h"
#include "memory.h"
#include "mojo_process.h"
#include "rows_merge.h"
#include "units.h"

// A helper process below both is not worth more than a line.
enum { QUIET_PEAK_BYTES = 1 << 20, QUIET_LEAK_BYTES = 64 << 10 };

// Types of a row's objects that are shown.
enum { TYPES_SHOWN = 3 };

// ---- what belongs to rows

// While rows are made: which row a site belongs to.
struct merging {
  struct judgement *judgement;
  uint32_t *row_of_site;
};

// The first of a row's sites that has a known holder speaks for it.
static void holders_take(const struct merging *merging, struct symbols *symbols, const uint32_t *symbol_modules) {
  const struct judgement *judgement = merging->judgement;
  const struct report *report = judgement->report;
  for (uint32_t i = 0; i < report->holder_count; i++) {
    const struct ht_file_holder *holder = &report->holders[i];
    struct row *row = &judgement->rows[merging->row_of_site[holder->site]];
    if (holder->link_count && !row->held_by)
      row->held_by = holder_texts(report, holder, judgement->stacks, symbols, symbol_modules, &row->held_count);
  }
}

// ---- types of objects

static void row_add_type(struct row_types *row, size_t *capacity, const char *name, const struct ht_file_type *type) {
  size_t i = 0;
  while (i < row->count && strcmp(row->types[i].name, name) != 0) i++;
  if (i == row->count) {
    row->types = memory_grow(row->types, row->count, capacity, sizeof *row->types);
    row->types[row->count++] = (struct row_type){.name = name};
  }
  row->types[i].blocks += type->blocks;
  row->types[i].bytes += type->bytes;
}

static int type_compare(const void *left, const void *right) {
  const struct row_type *a = left, *b = right;
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  return strcmp(a->name, b->name);
}

static struct row_types *types_of(struct row *row, bool lost) { return lost ? &row->lost_types : &row->types; }

static void types_take(const struct merging *merging, const struct ht_file_type *types, uint32_t count, bool lost) {
  struct judgement *judgement = merging->judgement;
  size_t *capacities = memory_get(judgement->row_count, sizeof *capacities);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t row = merging->row_of_site[types[i].site];
    const char *name = judgement->report->strings + types[i].name;
    row_add_type(types_of(&judgement->rows[row], lost), &capacities[row], name, &types[i]);
  }
  for (size_t i = 0; i < judgement->row_count; i++) {
    struct row_types *row = types_of(&judgement->rows[i], lost);
    if (row->count) qsort(row->types, row->count, sizeof *row->types, type_compare);
    if (row->count > TYPES_SHOWN) row->count = TYPES_SHOWN;
  }
  free(capacities);
}

// ---- leaks

static uint64_t leaked_bytes(const struct row *row) { return row->direct_bytes + row->indirect_bytes; }
static uint64_t leaked_blocks(const struct row *row) { return row->direct_blocks + row->indirect_blocks; }
static bool is_leak(const struct row *row) { return leaked_blocks(row) || leaked_bytes(row); }

// The first suppression, from the leaf on, that matches a frame. `known` remembers the answer for a frame.
static int suppression_find(const struct judgement *judgement, const struct row *row,
                            const struct suppressions *suppressions, int *known) {
  enum { NOT_ASKED = 0, NONE = -1 };
  for (uint32_t node = row->stack; node; node = stack_outer(judgement->stacks, node)) {
    const struct shown_frame *frame = stack_frame(judgement->stacks, node);
    int *answer = &known[judgement->stacks->nodes[node].frame];
    if (*answer == NOT_ASKED) {
      int found = suppressions_match(suppressions, frame->function, frame->file, frame->module);
      *answer = found < 0 ? NONE : found + 1;
    }
    if (*answer > 0) return *answer - 1;
  }
  return -1;
}

static void row_suppress(struct judgement *judgement, struct row *row, const struct judgement_rules *rules,
                         int *known) {
  row->suppression = suppression_find(judgement, row, rules->suppressions, known);
  row->suppressed = row->suppression >= 0 || (row->residue && rules->builtin_suppressions);
  if (row->suppression >= 0) {
    struct suppression *suppression = &rules->suppressions->items[row->suppression];
    suppression->bytes += leaked_bytes(row);
    suppression->blocks += leaked_blocks(row);
  }
}

static void leak_count(struct judgement *judgement, const struct row *row, const struct judgement_rules *rules) {
  if (row->suppressed) {
    judgement->suppressed_bytes += leaked_bytes(row);
    judgement->suppressed_sites++;
  } else if (leak_is_summed((enum ht_kind)row->kind, row->residue, !rules->builtin_suppressions)) {
    judgement->leaked_direct_bytes += row->direct_bytes;
    judgement->leaked_indirect_bytes += row->indirect_bytes;
    judgement->leaked_blocks += leaked_blocks(row);
    judgement->leaked_sites++;
  } else {
    judgement->python_leaked_bytes += leaked_bytes(row);
    judgement->python_leaked_blocks += leaked_blocks(row);
  }
}

static void leaks_judge(struct judgement *judgement, const struct judgement_rules *rules) {
  int *known = memory_get(judgement->stacks->frame_count, sizeof *known);
  for (size_t i = 0; i < judgement->row_count; i++) {
    struct row *row = &judgement->rows[i];
    if (!is_leak(row)) continue;
    row_suppress(judgement, row, rules, known);
    leak_count(judgement, row, rules);
  }
  free(known);
}

// ---- lists

typedef uint64_t row_figure(const struct row *row);

// Leaks of empty blocks count too: one more than their bytes. Direct ones come first, as LeakSanitizer has them: the
// others go with them.
static uint64_t leak_figure(const struct row *row) {
  static const uint64_t direct = 1ull << 63;
  return is_leak(row) ? (row->direct_blocks ? direct : 0) + leaked_bytes(row) + 1 : 0;
}
static uint64_t peak_figure(const struct row *row) { return row->peak_bytes; }
static uint64_t hotspot_figure(const struct row *row) { return row->allocations; }
static uint64_t temporary_figure(const struct row *row) { return row->temporaries; }

// What it held, by whichever is more: at the peak or at the end.
static uint64_t gpu_figure(const struct row *row) {
  bool of_gpu = row->kind == HT_KIND_DEVICE || row->kind == HT_KIND_PINNED || row->kind == HT_KIND_MANAGED;
  return of_gpu ? 1 + (row->peak_bytes > row->live_bytes ? row->peak_bytes : row->live_bytes) : 0;
}

struct ranked {
  uint64_t figure;
  uint32_t row;
};

// Largest first; equal ones in the report's order, so that a report always reads the same.
static int ranked_compare(const void *left, const void *right) {
  const struct ranked *a = left, *b = right;
  if (a->figure != b->figure) return a->figure > b->figure ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

// Which rows a list takes: leaks of Python lines stand in the list of Python's own.
enum list_kinds { LIST_ALL, LIST_NATIVE, LIST_PYTHON };

static bool list_takes(enum list_kinds kinds, const struct row *row) {
  return kinds == LIST_ALL || (row->kind == HT_KIND_PYTHON) == (kinds == LIST_PYTHON);
}

static struct row_list list_make(const struct judgement *judgement, row_figure *figure, enum list_kinds kinds) {
  struct ranked *ranked = memory_get(judgement->row_count, sizeof *ranked);
  struct row_list list = {0};
  for (size_t i = 0; i < judgement->row_count; i++) {
    uint64_t value = figure(&judgement->rows[i]);
    if (value && list_takes(kinds, &judgement->rows[i])) ranked[list.count++] = (struct ranked){value, (uint32_t)i};
  }
  qsort(ranked, list.count, sizeof *ranked, ranked_compare);
  list.rows = memory_get(list.count, sizeof *list.rows);
  for (size_t i = 0; i < list.count; i++) list.rows[i] = ranked[i].row;
  free(ranked);
  return list;
}

static uint64_t python_figure(const struct row *row) { return row->live_bytes + row->peak_bytes + row->allocations; }

static int python_compare(const void *left, const void *right) {
  const struct python_row *a = left, *b = right;
  if (a->leaked != b->leaked) return a->leaked ? -1 : 1;
  if (a->live_bytes != b->live_bytes) return a->live_bytes > b->live_bytes ? -1 : 1;
  if (a->peak_bytes != b->peak_bytes) return a->peak_bytes > b->peak_bytes ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

static uint64_t minus(uint64_t from, uint64_t taken) { return from > taken ? from - taken : 0; }

static bool python_leaks(const struct row *row) { return is_leak(row) && !row->suppressed; }

// Adds row `index`, which is `row`, to `list`; returns how many lines it took.
static size_t python_add(struct python_row *list, uint32_t index, const struct row *row) {
  uint64_t bytes = leaked_bytes(row), blocks = leaked_blocks(row);
  bool leaked = python_leaks(row), split = leaked && blocks < row->live_blocks;
  struct python_row whole = {index, leaked, row->live_bytes, row->live_blocks, row->allocations, true, row->peak_bytes};
  if (split) {
    *list++ = (struct python_row){index, true, bytes, blocks, blocks, false, 0};
    whole.leaked = false;
    whole.live_bytes = minus(row->live_bytes, bytes);
    whole.live_blocks = minus(row->live_blocks, blocks);
    whole.allocations = minus(row->allocations, blocks);
  }
  *list = whole;
  return 1 + split;
}

struct python_row judgement_python_share(const struct judgement *judgement, const struct python_row *of, size_t share) {
  const struct row *row = &judgement->shares.rows[share];
  uint64_t bytes = leaked_bytes(row), blocks = leaked_blocks(row);
  struct python_row all = {of->row,          of->leaked, row->live_bytes, row->live_blocks,
                           row->allocations, true,       row->peak_bytes};
  if (!of->peak_known) return (struct python_row){of->row, true, bytes, blocks, blocks, false, 0};
  if (of->leaked || !python_leaks(&judgement->rows[of->row])) return all;
  all.live_bytes = minus(row->live_bytes, bytes);
  all.live_blocks = minus(row->live_blocks, blocks);
  all.allocations = minus(row->allocations, blocks);
  return all;
}

static void python_make(struct judgement *judgement) {
  struct row_list list = list_make(judgement, python_figure, LIST_PYTHON);
  judgement->python = memory_get(2 * list.count, sizeof *judgement->python);
  for (size_t i = 0; i < list.count; i++)
    judgement->python_count +=
        python_add(&judgement->python[judgement->python_count], list.rows[i], &judgement->rows[list.rows[i]]);
  for (size_t i = 0; i < judgement->python_count; i++) judgement->python_leaked_count += judgement->python[i].leaked;
  qsort(judgement->python, judgement->python_count, sizeof *judgement->python, python_compare);
  free(list.rows);
}

// ---- pools that few blocks hold

static int pinned_compare(const void *left, const void *right) {
  const struct pinned_row *a = left, *b = right;
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  return a->stack < b->stack ? -1 : a->stack > b->stack;
}

// The report's sites: the first row is all together.
static void pinned_make(struct judgement *judgement) {
  const struct report *report = judgement->report;
  judgement->pinned = memory_get(report->pinned_count, sizeof *judgement->pinned);
  for (uint32_t i = 1; i < report->pinned_count; i++) {
    uint32_t stack = judgement->stacks->of_site[report->pinned[i].site];
    size_t at = 0;
    while (at < judgement->pinned_count && judgement->pinned[at].stack != stack) at++;
    if (at == judgement->pinned_count) judgement->pinned[judgement->pinned_count++] = (struct pinned_row){stack, 0, 0};
    judgement->pinned[at].blocks += report->pinned[i].blocks;
    judgement->pinned[at].bytes += report->pinned[i].bytes;
  }
  qsort(judgement->pinned, judgement->pinned_count, sizeof *judgement->pinned, pinned_compare);
}

// ---- growth

static double pool_bytes(const struct ht_file_sample *sample, bool device) {
  const uint64_t *live = sample->live_bytes;
  return device ? (double)live[HT_KIND_DEVICE]
                : (double)live[HT_KIND_HEAP] + (double)live[HT_KIND_MMAP] + (double)live[HT_KIND_PYTHON];
}

static struct growth not_judged(const char *why) {
  struct growth growth = {.verdict = VERDICT_NONE};
  strncpy(growth.why, why, sizeof growth.why - 1);
  return growth;
}

static double run_seconds(const struct report *report) { return seconds_of(report->process->duration_ns); }

static struct growth pool_judge(const struct report *report, bool device, struct growth_limit limit) {
  double *at_s = memory_get(report->sample_count, sizeof *at_s),
         *bytes = memory_get(report->sample_count, sizeof *bytes);
  double most = 0;
  for (uint32_t i = 0; i < report->sample_count; i++) {
    at_s[i] = seconds_of(report->samples[i].at_ns);
    bytes[i] = pool_bytes(&report->samples[i], device);
    most = bytes[i] > most ? bytes[i] : most;
  }
  struct growth growth;
  if (report->process->flags & HT_PROCESS_ATTACHED)
    growth = not_judged("attached: what came before is not known");
  else if (device && most == 0)
    growth = not_judged("no device memory was used");
  else {
    struct growth_curve curve = {at_s, bytes, report->sample_count, device ? 0 : (double)report->process->sample_bytes};
    growth = growth_judge(&curve, run_seconds(report), limit);
  }
  free(at_s);
  free(bytes);
  return growth;
}

static int growing_compare(const void *left, const void *right) {
  const struct growth_row *a = left, *b = right;
  if (a->bytes_per_s != b->bytes_per_s) return a->bytes_per_s > b->bytes_per_s ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

// The sites that rise in the window that decided over their pool; without a verdict, in the first one.
static struct growing growing_make(const struct judgement *judgement, const struct row *rows,
                                   const struct row_curves *curves) {
  struct growing growing = {memory_get(curves->count, sizeof *growing.items), 0};
  for (size_t i = 0; i < curves->count; i++) {
    uint32_t row = curves->items[i].row;
    const struct growth *pool = rows[row].kind == HT_KIND_DEVICE ? &judgement->device : &judgement->cpu;
    struct growth_window window =
        pool->verdict == VERDICT_NONE ? growth_first_window(run_seconds(judgement->report)) : pool->window;
    const struct curve_points *points = curves->items[i].points;
    struct growth_curve curve = {.at_s = points->at_s, .bytes = curves->items[i].bytes, .count = points->count};
    double bytes_per_s;
    if (growth_rise(&curve, window, &bytes_per_s))
      growing.items[growing.count++] = (struct growth_row){row, bytes_per_s};
  }
  if (growing.count) qsort(growing.items, growing.count, sizeof *growing.items, growing_compare);
  return growing;
}

// ---- threads' shares

static void shares_make(struct judgement *judgement, const struct merged_rows *whole) {
  if (!judgement->report->owner_count) return;
  struct merged_rows merged = rows_merge_apart(judgement->report, whole);
  struct row_shares *shares = &judgement->shares;
  shares->curves =
      row_curves_make(judgement->report, judgement->points, judgement->gpu_points, merged.of_site, merged.count);
  shares->growing = growing_make(judgement, merged.rows, &shares->curves);
  shares->first = memory_get(judgement->row_count + 1, sizeof *shares->first);
  for (size_t i = 0; i < merged.count; i++) {
    merged.rows[i].suppressed = judgement->rows[merged.rows[i].whole].suppressed;
    shares->first[merged.rows[i].whole + 1] = i + 1;
  }
  shares->python = memory_get(2 * merged.count, sizeof *shares->python);
  for (size_t i = 0; i < merged.count; i++)
    if (merged.rows[i].kind == HT_KIND_PYTHON && python_figure(&merged.rows[i]))
      shares->python_count += python_add(&shares->python[shares->python_count], (uint32_t)i, &merged.rows[i]);
  shares->rows = merged.rows;
  shares->count = merged.count;
  free(merged.of_site);
}

static void shares_free(struct row_shares *shares) {
  row_curves_free(&shares->curves);
  free(shares->growing.items);
  free(shares->rows);
  free(shares->python);
  free(shares->first);
}

// ---- whole

static void totals_count(struct judgement *judgement) {
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) {
    const struct ht_file_kind *figures = &judgement->report->process->kinds[kind];
    judgement->allocations += figures->allocations;
    judgement->frees += figures->frees;
    judgement->temporaries_total += figures->temporaries;
  }
}

static void notes_collect(struct judgement *judgement, const struct symbols *symbols, const uint32_t *symbol_modules) {
  const struct report *report = judgement->report;
  const char *mojo = mojo_process_note(report);
  judgement->notes = memory_get((size_t)report->note_count + report->module_count + 2, sizeof *judgement->notes);
  if (mojo) judgement->notes[judgement->note_count++] = mojo;
  for (uint32_t i = 0; i < report->note_count; i++)
    judgement->notes[judgement->note_count++] = report->strings + report->notes[i];
  for (uint32_t i = 0; i < report->module_count; i++) {
    const char *note = symbols->modules[symbol_modules[i]].note;
    if (note) judgement->notes[judgement->note_count++] = note;
  }
  judgement->advice = advice_make(report, symbols, symbol_modules);
  if (judgement->advice) judgement->notes[judgement->note_count++] = judgement->advice;
}

// What a wrapper was before it became the program (an env, a shim of a version manager) is of no interest, if clean.
static bool may_be_quiet(const struct judgement *judgement, uint64_t leaked_bytes) {
  if (!(judgement->report->process->flags & HT_PROCESS_MAIN)) return leaked_bytes < QUIET_LEAK_BYTES;
  return judgement->report->replaced && leaked_bytes == 0;
}

static bool is_quiet(const struct judgement *judgement) {
  uint64_t leaked_bytes = judgement->leaked_direct_bytes + judgement->leaked_indirect_bytes;
  bool small = judgement->report->process->peak_bytes < QUIET_PEAK_BYTES && !judgement_has_growth(judgement);
  return judgement->helper || (small && may_be_quiet(judgement, leaked_bytes));
}

static void rows_take(struct judgement *judgement, const struct merged_rows *merged) {
  judgement->rows = merged->rows;
  judgement->row_count = merged->count;
  for (size_t i = 0; i < judgement->row_count; i++)
    judgement->rows[i].site = stack_site(judgement->stacks, judgement->rows[i].stack);
}

struct judgement judgement_make(const struct report *report, const struct stacks *stacks, struct symbols *symbols,
                                const uint32_t *symbol_modules, const struct judgement_rules *rules, bool helper) {
  struct judgement judgement = {.report = report, .stacks = stacks, .helper = helper};
  struct merged_rows merged = rows_merge(report, stacks);
  struct merging merging = {&judgement, merged.of_site};
  rows_take(&judgement, &merged);
  holders_take(&merging, symbols, symbol_modules);
  types_take(&merging, report->types, report->type_count, false);
  types_take(&merging, report->lost_types, report->lost_type_count, true);
  leaks_judge(&judgement, rules);
  judgement.leaks = list_make(&judgement, leak_figure, LIST_NATIVE);
  judgement.peak = list_make(&judgement, peak_figure, LIST_ALL);
  judgement.hotspots = list_make(&judgement, hotspot_figure, LIST_ALL);
  judgement.temporaries = list_make(&judgement, temporary_figure, LIST_ALL);
  judgement.gpu = list_make(&judgement, gpu_figure, LIST_NATIVE);
  python_make(&judgement);
  pinned_make(&judgement);
  totals_count(&judgement);
  notes_collect(&judgement, symbols, symbol_modules);
  judgement.cpu = pool_judge(report, false, rules->growth_limit);
  judgement.device = pool_judge(report, true, rules->growth_limit);
  judgement.points = curve_points_make(report->site_timeline);
  judgement.gpu_points = curve_points_make(report->gpu_site_timeline);
  judgement.curves = row_curves_make(report, judgement.points, judgement.gpu_points, merged.of_site, merged.count);
  judgement.growing = growing_make(&judgement, judgement.rows, &judgement.curves);
  shares_make(&judgement, &merged);
  judgement.quiet = is_quiet(&judgement);
  free(merged.of_site);
  return judgement;
}

bool judgement_python_shown(const struct judgement *judgement, size_t index, uint64_t top) {
  size_t leaked = judgement->python_leaked_count;
  return index < leaked ? index < top : index - leaked < top;
}

bool judgement_has_leaks(const struct judgement *judgement) {
  return !judgement->helper && judgement->leaked_sites > 0;
}

bool judgement_leaks_known(const struct judgement *judgement) {
  return judgement->leaked_sites || (judgement->report->process->flags & HT_PROCESS_SCANNED);
}

bool judgement_has_growth(const struct judgement *judgement) {
  if (judgement->helper) return false;
  return judgement->cpu.verdict == VERDICT_FAIL || judgement->device.verdict == VERDICT_FAIL;
}

void judgement_free(struct judgement *judgement) {
  for (size_t i = 0; i < judgement->row_count; i++) {
    for (size_t k = 0; k < judgement->rows[i].held_count; k++) free(judgement->rows[i].held_by[k]);
    free(judgement->rows[i].held_by);
    free(judgement->rows[i].types.types);
    free(judgement->rows[i].lost_types.types);
  }
  shares_free(&judgement->shares);
  row_curves_free(&judgement->curves);
  free(judgement->advice);
  free(judgement->rows);
  free(judgement->leaks.rows);
  free(judgement->peak.rows);
  free(judgement->hotspots.rows);
  free(judgement->temporaries.rows);
  free(judgement->gpu.rows);
  free(judgement->python);
  free(judgement->pinned);
  free(judgement->growing.items);
  free(judgement->notes);
  curve_points_free(judgement->points);
  curve_points_free(judgement->gpu_points);
  *judgement = (struct judgement){0};
}
