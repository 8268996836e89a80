#include "rows_merge.h"

#include <stdlib.h>

#include "memory.h"

// While rows are made.
struct merging {
  struct merged_rows merged;
  size_t capacity;
  uint32_t *table; // open hash table of row + 1; not for shares, which come sorted
  size_t table_capacity;
};

static bool is_same(const struct row *one, const struct row *other) {
  return one->stack == other->stack && one->kind == other->kind && one->residue == other->residue;
}

static size_t row_place(const struct merging *merging, const struct row *row) {
  uint64_t hash = ((uint64_t)row->stack * 16 + row->kind * 2 + row->residue) * 0x9e3779b97f4a7c15ull;
  size_t place = (hash >> 24) & (merging->table_capacity - 1);
  for (uint32_t number; (number = merging->table[place]);) {
    if (is_same(&merging->merged.rows[number - 1], row)) break;
    place = (place + 1) & (merging->table_capacity - 1);
  }
  return place;
}

static void row_append(struct merging *merging, const struct row *row) {
  struct merged_rows *merged = &merging->merged;
  merged->rows = memory_grow(merged->rows, merged->count, &merging->capacity, sizeof *row);
  merged->rows[merged->count++] = *row;
}

static uint32_t row_find(struct merging *merging, const struct row *row) {
  size_t place = row_place(merging, row);
  if (!merging->table[place]) {
    row_append(merging, row);
    merging->table[place] = (uint32_t)merging->merged.count;
  }
  return merging->table[place] - 1;
}

static void figures_add(const struct merged_rows *merged, const struct report *report) {
  for (uint32_t i = 1; i < report->site_count; i++) {
    const struct ht_file_site *site = &report->sites[i];
    struct row *row = &merged->rows[merged->of_site[i]];
    row->allocations += site->allocations;
    row->frees += site->frees;
    row->temporaries += site->temporaries;
    row->allocated_bytes += site->allocated_bytes;
    row->live_bytes += site->live_bytes;
    row->live_blocks += site->live_blocks;
    row->peak_bytes += site->peak_bytes;
    row->peak_blocks += site->peak_blocks;
  }
  for (uint32_t i = 0; i < report->leak_count; i++) {
    const struct ht_file_leak *leak = &report->leaks[i];
    struct row *row = &merged->rows[merged->of_site[leak->site]];
    row->direct_bytes += leak->direct_bytes;
    row->direct_blocks += leak->direct_blocks;
    row->indirect_bytes += leak->indirect_bytes;
    row->indirect_blocks += leak->indirect_blocks;
  }
}

static struct row site_row(const struct report *report, const struct stacks *stacks, uint32_t index) {
  const struct ht_file_site *site = &report->sites[index];
  return (struct row){.kind = site->kind,
                      .stack = stacks->of_site[index],
                      .residue = site->flags & HT_SITE_RESIDUE,
                      .arena = site->flags & HT_SITE_ARENA,
                      .pool = site->flags & HT_SITE_POOL,
                      .suppression = -1};
}

// Of the same site without its figures.
static struct row site_share(const struct report *report, const struct merged_rows *whole, uint32_t index) {
  const struct row *of = &whole->rows[whole->of_site[index]];
  return (struct row){.kind = of->kind,
                      .stack = of->stack,
                      .residue = of->residue,
                      .whole = whole->of_site[index],
                      .owner = report->site_owner_count ? report->site_owners[index] : 0};
}

static struct merging merging_begin(const struct report *report) {
  return (struct merging){.merged.of_site = memory_get(report->site_count, sizeof(uint32_t))};
}

static struct merged_rows merging_end(struct merging *merging, const struct report *report) {
  figures_add(&merging->merged, report);
  return merging->merged;
}

struct merged_rows rows_merge(const struct report *report, const struct stacks *stacks) {
  struct merging merging = merging_begin(report);
  merging.table_capacity = 64;
  while (merging.table_capacity < 2 * (size_t)report->site_count) merging.table_capacity *= 2;
  merging.table = memory_get(merging.table_capacity, sizeof *merging.table);
  for (uint32_t i = 1; i < report->site_count; i++) {
    struct row row = site_row(report, stacks, i);
    merging.merged.of_site[i] = row_find(&merging, &row);
  }
  free(merging.table);
  return merging_end(&merging, report);
}

// ---- each thread's share

struct share_order {
  uint32_t whole, owner, site;
};

static int share_compare(const void *left, const void *right) {
  const struct share_order *a = left, *b = right;
  if (a->whole != b->whole) return a->whole < b->whole ? -1 : 1;
  return a->owner < b->owner ? -1 : a->owner > b->owner;
}

struct merged_rows rows_merge_apart(const struct report *report, const struct merged_rows *whole) {
  struct merging merging = merging_begin(report);
  struct share_order *order = memory_get(report->site_count, sizeof *order);
  for (uint32_t i = 1; i < report->site_count; i++)
    order[i - 1] = (struct share_order){whole->of_site[i], site_share(report, whole, i).owner, i};
  if (report->site_count > 1) qsort(order, report->site_count - 1, sizeof *order, share_compare);
  for (uint32_t i = 0; i + 1 < report->site_count; i++) {
    struct row row = site_share(report, whole, order[i].site);
    if (i == 0 || share_compare(&order[i], &order[i - 1]) != 0) row_append(&merging, &row);
    merging.merged.of_site[order[i].site] = (uint32_t)merging.merged.count - 1;
  }
  free(order);
  return merging_end(&merging, report);
}

void merged_rows_free(struct merged_rows *merged) {
  free(merged->rows);
  free(merged->of_site);
  *merged = (struct merged_rows){0};
}
