#include "python_report.h"

#include "../native/lock.h"
#include "growing.h"
#include "hook_python.h"
#include "object_count.h"

// What the pairs of a line add up to.
struct line_sum {
  uint64_t allocations, frees, allocated_bytes, freed_bytes;
  uint32_t temporaries;
  uint32_t peak_blocks;
  uint64_t peak_bytes; // at the last peak
};
struct fold {
  struct line_sum added; // what the site's counters hold of the pairs already
  uint32_t epoch;        // of that
};
static struct fold *folds; // by line
static uint32_t folds_capacity;

static void sum_pair(struct line_sum *sum, const struct pair *pair) {
  uint32_t peak_blocks = pair->epoch == count_epoch ? pair->peak_saved : pair_live(pair);
  sum->allocations += pair->allocations;
  sum->frees += pair->frees;
  sum->allocated_bytes += pair->allocations * pair->size_bytes;
  sum->freed_bytes += pair->frees * pair->size_bytes;
  sum->temporaries += pair->temporaries;
  sum->peak_blocks += peak_blocks;
  sum->peak_bytes += (uint64_t)peak_blocks * pair->size_bytes;
}

// Large blocks of the line are counted in its site as they come and go. What the site saved for the last peak holds
// of the pairs: the sum of the last fold if that was in the same epoch, else what was live then.
static void fold_line(struct site *site, struct fold *fold, const struct line_sum *now) {
  struct line_sum *added = &fold->added;
  bool same_epoch = fold->epoch == count_epoch;
  site_touch(site);
  site->peak_bytes_saved +=
      now->peak_bytes - (same_epoch ? added->peak_bytes : added->allocated_bytes - added->freed_bytes);
  site->peak_blocks_saved +=
      now->peak_blocks - (same_epoch ? added->peak_blocks : (uint32_t)(added->allocations - added->frees));
  site->allocations += now->allocations - added->allocations;
  site->frees += now->frees - added->frees;
  site->allocated_bytes += now->allocated_bytes - added->allocated_bytes;
  site->freed_bytes += now->freed_bytes - added->freed_bytes;
  site->temporaries += now->temporaries - added->temporaries;
  *fold = (struct fold){*now, count_epoch};
}

void python_report_fold(void) {
  if (!growing_reserve((void **)&folds, &folds_capacity, line_count, sizeof *folds)) return;
  struct line_sum *sums = sys_map(line_count * sizeof *sums);
  if (!sums) return;
  for (uint32_t id = pair_inherited; id < pair_count; id++) sum_pair(&sums[pair_lines[id].value], &pair_table[id]);
  for (uint32_t line = 1; line < line_count; line++) fold_line(site_at(line_table[line].site), &folds[line], &sums[line]);
  sys_unmap(sums, line_count * sizeof *sums);
}

void python_report_fork_child(void) {
  if (folds) memset(folds, 0, folds_capacity * sizeof *folds);
}

void python_report_final(void) {
  line_table_release();
  hook_python_end();
}

void python_report_note(const char *text) { (void)text; }
