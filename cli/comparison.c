#include "comparison.h"

#include <stdlib.h>
#include <string.h>

#include "holders.h"
#include "memory.h"
#include "process_pairs.h"

// A figure has grown when its rise is over both.
enum { RISE_BYTES = 64 << 10 };
#define RISE_SHARE 0.10

// ---- sites of both sides

// A site while both sides are added up.
struct site {
  struct compared_site compared;
  uint32_t stack[SIDE_COUNT];   // of the largest row
  uint64_t largest[SIDE_COUNT]; // its size + 1
};

struct sites {
  struct site *items;
  size_t count, capacity;
  uint32_t *table; // open hash table of index + 1
  size_t table_capacity;
};

static size_t site_place(const struct sites *sites, uint32_t kind, uint32_t chain) {
  uint64_t hash = ((uint64_t)chain * HT_KIND_COUNT + kind) * 0x9e3779b97f4a7c15ull;
  size_t place = (hash >> 24) & (sites->table_capacity - 1);
  for (uint32_t number; (number = sites->table[place]);) {
    const struct site *site = &sites->items[number - 1];
    if (site->compared.kind == kind && site->compared.chain == chain) break;
    place = (place + 1) & (sites->table_capacity - 1);
  }
  return place;
}

static void sites_table_double(struct sites *sites) {
  free(sites->table);
  sites->table_capacity = sites->table_capacity ? sites->table_capacity * 2 : 1024;
  sites->table = memory_get(sites->table_capacity, sizeof *sites->table);
  for (size_t i = 0; i < sites->count; i++)
    sites->table[site_place(sites, sites->items[i].compared.kind, sites->items[i].compared.chain)] = (uint32_t)i + 1;
}

static struct site *site_find(struct sites *sites, uint32_t kind, uint32_t chain) {
  if (sites->count * 2 >= sites->table_capacity) sites_table_double(sites);
  size_t place = site_place(sites, kind, chain);
  if (!sites->table[place]) {
    sites->items = memory_grow(sites->items, sites->count, &sites->capacity, sizeof *sites->items);
    sites->items[sites->count] = (struct site){.compared = {.kind = kind, .chain = chain, .change = CHANGE_NONE}};
    sites->table[place] = (uint32_t)++sites->count;
  }
  return &sites->items[sites->table[place] - 1];
}

// What of a row counts as leaked: Python's lost objects are a matter of when the collector ran last.
static bool leak_counts(const struct row *row) { return !row->suppressed && row->kind != HT_KIND_PYTHON; }

static void row_add(struct site *site, enum side side, const struct row *row) {
  struct figures *figures = &site->compared.sides[side];
  if (leak_counts(row)) {
    figures->bytes[FIGURE_LEAKED] += row->direct_bytes + row->indirect_bytes;
    figures->blocks[FIGURE_LEAKED] += row->direct_blocks + row->indirect_blocks;
  }
  figures->bytes[FIGURE_LIVE] += row->live_bytes;
  figures->blocks[FIGURE_LIVE] += row->live_blocks;
  figures->bytes[FIGURE_PEAK] += row->peak_bytes;
  figures->blocks[FIGURE_PEAK] += row->peak_blocks;
  figures->allocations += row->allocations;
  uint64_t size = row->live_bytes + row->peak_bytes + 1;
  if (size <= site->largest[side]) return;
  site->largest[side] = size;
  site->stack[side] = row->stack;
}

// What the arenas hold beyond their objects belongs to no site.
static void sites_add(struct sites *sites, enum side side, const struct judgement *judgement,
                      const struct stack_chains *chains) {
  for (size_t i = 0; i < judgement->row_count; i++) {
    const struct row *row = &judgement->rows[i];
    if (!row->arena) row_add(site_find(sites, row->kind, stack_chain(chains, row->stack)), side, row);
  }
}

// ---- what changed

static bool has_risen(uint64_t from, uint64_t to) {
  return to > from && to - from > RISE_BYTES && (double)(to - from) > RISE_SHARE * (double)from;
}

// How much has to be there for it to be news. Native memory that leaks, or is there at the end, is the program's doing
// to the byte; what Python has in its caches then, and who holds the peak, varies a little from run to run.
static uint64_t least_bytes(uint32_t kind, enum figure figure) {
  return figure == FIGURE_PEAK || kind == HT_KIND_PYTHON ? RISE_BYTES : 0;
}

static enum change figure_compare(const struct compared_site *site, enum figure figure) {
  uint64_t base = site->sides[SIDE_BASE].bytes[figure], new = site->sides[SIDE_NEW].bytes[figure];
  uint64_t least = least_bytes(site->kind, figure);
  bool was = site->sides[SIDE_BASE].blocks[figure], is = site->sides[SIDE_NEW].blocks[figure];
  if (!was && is && new >= least) return CHANGE_NEW;
  if (was && !is && base >= least) return CHANGE_GONE;
  if (was && is && has_risen(base, new)) return CHANGE_GROWN;
  if (was && is && has_risen(new, base)) return CHANGE_SHRUNK;
  return CHANGE_NONE;
}

static void change_add(struct comparison *comparison, const struct site *site) {
  const struct compared_site *compared = &site->compared;
  bool less = compared->change == CHANGE_GONE || compared->change == CHANGE_SHRUNK;
  enum side shown = less ? SIDE_BASE : SIDE_NEW; // where it is more
  comparison->counts[compared->change]++;
  comparison->changes[comparison->change_count++] =
      (struct site_change){.change = compared->change,
                           .figure = compared->figure,
                           .kind = compared->kind,
                           .sides = {compared->sides[SIDE_BASE], compared->sides[SIDE_NEW]},
                           .stacks = comparison->judgements[shown]->stacks,
                           .stack = site->stack[shown]};
}

// `leaks`: both were searched for leaks.
static void site_compare(struct comparison *comparison, struct site *site, bool leaks) {
  struct compared_site *compared = &site->compared;
  for (int figure = leaks ? FIGURE_LEAKED : FIGURE_LIVE; figure < FIGURE_COUNT; figure++) {
    compared->change = figure_compare(compared, (enum figure)figure);
    compared->figure = (enum figure)figure;
    if (compared->change == CHANGE_NONE) continue;
    change_add(comparison, site);
    return;
  }
  uint64_t base = compared->sides[SIDE_BASE].bytes[FIGURE_LIVE], new = compared->sides[SIDE_NEW].bytes[FIGURE_LIVE];
  comparison->small_sites += base != new;
  comparison->small_bytes += (int64_t)(new - base);
}

int64_t site_change_bytes(const struct site_change *change) {
  return (int64_t)(change->sides[SIDE_NEW].bytes[change->figure] - change->sides[SIDE_BASE].bytes[change->figure]);
}

static int change_compare(const void *left, const void *right) {
  const struct site_change *a = left, *b = right;
  if (a->change != b->change) return a->change < b->change ? -1 : 1;
  if (a->figure != b->figure) return a->figure < b->figure ? -1 : 1;
  uint64_t one = (uint64_t)llabs(site_change_bytes(a)), other = (uint64_t)llabs(site_change_bytes(b));
  if (one != other) return one > other ? -1 : 1;
  return a->stack < b->stack ? -1 : a->stack > b->stack; // so that it always reads the same
}

bool comparison_has_more(const struct comparison *comparison, bool grown) {
  bool peak_rose =
      has_risen(comparison->totals[SIDE_BASE].bytes[FIGURE_PEAK], comparison->totals[SIDE_NEW].bytes[FIGURE_PEAK]);
  for (size_t i = 0; i < comparison->change_count; i++) {
    const struct site_change *change = &comparison->changes[i];
    bool wanted = change->change == CHANGE_NEW || (grown && change->change == CHANGE_GROWN);
    if (wanted && (change->figure != FIGURE_PEAK || peak_rose)) return true;
  }
  return false;
}

// ---- what makes two reports hard to compare

static void note_add(struct comparison *comparison, char *note) {
  comparison->notes =
      memory_grow(comparison->notes, comparison->note_count, &comparison->note_capacity, sizeof *comparison->notes);
  comparison->notes[comparison->note_count++] = note;
}

static const char *side_word(enum side side) { return side == SIDE_BASE ? "BASE" : "NEW"; }

static void nameless_note(struct comparison *comparison, enum side side, const struct stack_chains *chains) {
  const struct judgement *judgement = comparison->judgements[side];
  uint64_t nameless = 0;
  for (size_t i = 0; i < judgement->row_count; i++) nameless += chains->nameless[judgement->rows[i].stack];
  if (nameless)
    note_add(comparison, memory_format("%llu of %zu sites of %s have functions without names: what changed there "
                                       "cannot be told from what moved. Names come from the files as they were "
                                       "recorded, not stripped.",
                                       (unsigned long long)nameless, judgement->row_count, side_word(side)));
}

// The side that has `flag` when the other does not; NULL: they agree.
static const char *only_side(const struct comparison *comparison, uint32_t flag) {
  uint32_t flags[SIDE_COUNT];
  for (int side = 0; side < SIDE_COUNT; side++)
    flags[side] = comparison->judgements[side]->report->process->flags & flag;
  return flags[SIDE_BASE] == flags[SIDE_NEW] ? NULL : side_word(flags[SIDE_BASE] ? SIDE_BASE : SIDE_NEW);
}

static void pair_notes(struct comparison *comparison) {
  const char *scanned = only_side(comparison, HT_PROCESS_SCANNED), *python = only_side(comparison, HT_PROCESS_PYTHON),
             *estimated = only_side(comparison, HT_PROCESS_ESTIMATED);
  if (scanned)
    note_add(comparison, memory_format("Only %s was searched for leaks: what leaked is not compared.", scanned));
  if (python)
    note_add(comparison,
             memory_format("Only %s was recorded with --py: Python's memory is another kind there.", python));
  if (estimated)
    note_add(comparison, memory_format("Only %s was recorded with --sample: its figures are estimates.", estimated));
  else if (report_is_estimated(comparison->judgements[SIDE_NEW]->report))
    note_add(comparison, memory_format("Both were recorded with --sample: figures are estimates."));
  uint32_t depths[SIDE_COUNT];
  for (int side = 0; side < SIDE_COUNT; side++) depths[side] = comparison->judgements[side]->report->process->depth;
  if (depths[SIDE_BASE] != depths[SIDE_NEW])
    note_add(comparison, memory_format("BASE kept %u frames of a stack, NEW %u: longer ones do not match.",
                                       depths[SIDE_BASE], depths[SIDE_NEW]));
}

// ---- pairs

struct comparing {
  const struct report_set *sets[SIDE_COUNT];
  struct chains *chains;
};

// A module's builds on one side, by its base name.
static const struct symbol_module *module_find(const struct symbols *symbols, const char *name,
                                               const struct symbol_module *like) {
  for (size_t i = 0; i < symbols->module_count; i++) {
    const struct symbol_module *module = &symbols->modules[i];
    if (strcmp(path_name(module->path), name) != 0) continue;
    if (!like) return module;
    if (module->build_id_bytes == like->build_id_bytes &&
        memcmp(module->build_id, like->build_id, like->build_id_bytes) == 0)
      return module;
  }
  return NULL;
}

// Without a build-id only the same file can be told to be the same build.
static bool is_same_build(const void *context, const char *path) {
  const struct comparing *comparing = context;
  const char *name = path_name(path);
  const struct symbol_module *base = module_find(&comparing->sets[SIDE_BASE]->symbols, name, NULL);
  const struct symbol_module *new = base ? module_find(&comparing->sets[SIDE_NEW]->symbols, name, base) : NULL;
  return new && (new->build_id_bytes || strcmp(new->path, base->path) == 0);
}

static void totals_take(struct figures *totals, const struct judgement *judgement) {
  const struct ht_file_process *process = judgement->report->process;
  totals->bytes[FIGURE_LEAKED] = judgement->leaked_direct_bytes + judgement->leaked_indirect_bytes;
  totals->blocks[FIGURE_LEAKED] = judgement->leaked_blocks;
  totals->bytes[FIGURE_LIVE] = process->live_bytes;
  for (int kind = 0; kind < HT_KIND_COUNT; kind++) totals->blocks[FIGURE_LIVE] += process->kinds[kind].live_blocks;
  totals->bytes[FIGURE_PEAK] = process->peak_bytes;
  totals->allocations = judgement->allocations;
}

static void sites_compare(struct comparison *comparison, struct sites *sites) {
  bool leaks = true;
  for (int side = 0; side < SIDE_COUNT; side++) {
    const struct judgement *judgement = comparison->judgements[side];
    leaks &= !judgement || judgement->report->process->flags & HT_PROCESS_SCANNED;
  }
  comparison->changes = memory_get(sites->count, sizeof *comparison->changes);
  comparison->sites = memory_get(sites->count, sizeof *comparison->sites);
  for (size_t i = 0; i < sites->count; i++) {
    site_compare(comparison, &sites->items[i], leaks);
    comparison->sites[comparison->site_count++] = sites->items[i].compared;
  }
  qsort(comparison->changes, comparison->change_count, sizeof *comparison->changes, change_compare);
}

static struct comparison comparison_make(struct comparing *comparing, struct process_pair pair) {
  const size_t indexes[SIDE_COUNT] = {pair.base, pair.new};
  struct comparison comparison = {0};
  struct sites sites = {0};
  for (int side = 0; side < SIDE_COUNT; side++) {
    if (indexes[side] == NO_PROCESS) continue;
    const struct judgement *judgement = &comparing->sets[side]->judgements[indexes[side]];
    struct stack_chains chains = stack_chains_make(comparing->chains, judgement->stacks, is_same_build, comparing);
    comparison.judgements[side] = judgement;
    totals_take(&comparison.totals[side], judgement);
    sites_add(&sites, (enum side)side, judgement, &chains);
    nameless_note(&comparison, (enum side)side, &chains);
    stack_chains_free(&chains);
  }
  if (comparison.judgements[SIDE_BASE] && comparison.judgements[SIDE_NEW]) pair_notes(&comparison);
  sites_compare(&comparison, &sites);
  free(sites.items);
  free(sites.table);
  return comparison;
}

struct comparison_list comparison_list_make(const struct report_set *base, const struct report_set *new) {
  struct process_pairs pairs = process_pairs_make(base, new);
  struct comparison_list list = {.items = memory_get(pairs.count, sizeof *list.items), .count = pairs.count};
  struct comparing comparing = {{base, new}, &list.chains};
  chains_make(&list.chains);
  for (size_t i = 0; i < pairs.count; i++) list.items[i] = comparison_make(&comparing, pairs.items[i]);
  free(pairs.items);
  return list;
}

void comparison_list_free(struct comparison_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    for (size_t k = 0; k < list->items[i].note_count; k++) free(list->items[i].notes[k]);
    free(list->items[i].notes);
    free(list->items[i].changes);
    free(list->items[i].sites);
  }
  free(list->items);
  chains_free(&list->chains);
  *list = (struct comparison_list){0};
}
