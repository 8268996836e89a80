#include "python_report.h"

#include "../native/growing.h"
#include "../native/live.h"
#include "../native/modules.h"
#include "../native/report.h"
#include "../native/stop.h"
#include "../native/thread.h"
#include "arenas.h"
#include "hook_python.h"
#include "object_count.h"
#include "object_garbage.h"
#include "object_holder.h"
#include "object_map.h"
#include "object_scan.h"
#include "pinned_pools.h"
#include "thread_title.h"

// What the pairs of a line add up to.
struct line_sum {
  uint64_t allocations, frees, allocated_bytes, freed_bytes;
  uint64_t temporaries;
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
  uint32_t peak_blocks = pair->epoch == count_shared.epoch ? pair->peak_saved : pair_live(pair);
  sum->allocations += pair->allocations;
  sum->frees += pair->frees;
  sum->allocated_bytes += pair->allocations * pair->size_bytes;
  sum->freed_bytes += pair->frees * pair->size_bytes;
  sum->temporaries += pair_temporaries(pair);
  sum->peak_blocks += peak_blocks;
  sum->peak_bytes += (uint64_t)peak_blocks * pair->size_bytes;
}

// Large blocks of the line are counted in its site as they come and go. What the site saved for the last peak holds
// of the pairs: the sum of the last fold if that was in the same epoch, else what was live then.
static void fold_line(struct site *site, struct fold *fold, const struct line_sum *now) {
  struct line_sum *added = &fold->added;
  bool same_epoch = fold->epoch == count_shared.epoch;
  struct site_change change = {
      .allocations = now->allocations - added->allocations,
      .frees = now->frees - added->frees,
      .temporaries = now->temporaries - added->temporaries,
      .allocated_bytes = now->allocated_bytes - added->allocated_bytes,
      .freed_bytes = now->freed_bytes - added->freed_bytes,
      .peak_bytes =
          (int64_t)(now->peak_bytes - (same_epoch ? added->peak_bytes : added->allocated_bytes - added->freed_bytes)),
      .peak_blocks = (int32_t)(now->peak_blocks -
                               (same_epoch ? added->peak_blocks : (uint32_t)(added->allocations - added->frees))),
  };
  count_site_change(site, &change);
  *fold = (struct fold){*now, count_shared.epoch};
}

static void lines_fold(void) {
  if (!growing_reserve((void **)&folds, &folds_capacity, line_count, sizeof *folds)) return;
  struct line_sum *sums = sys_map(line_count * sizeof *sums);
  if (!sums) return;
  for (uint32_t id = pair_inherited; id < pair_count; id++) sum_pair(&sums[pair_lines[id].value], &pair_table[id]);
  for (uint32_t line = 1; line < line_count; line++)
    fold_line(site_at(line_table[line].site), &folds[line], &sums[line]);
  sys_unmap(sums, line_count * sizeof *sums);
}

// For the timeline, at any time and in any thread: what the pairs hold now and the sites do not have yet. The count is
// read before the arrays, which only get larger.
void python_report_live_add(int64_t *live_bytes, uint32_t first, uint32_t count) {
  uint32_t end = __atomic_load_n(&pair_count, __ATOMIC_ACQUIRE);
  const line_id *lines_of_pairs = __atomic_load_n(&pair_lines, __ATOMIC_ACQUIRE);
  const struct pair *pairs = __atomic_load_n(&pair_table, __ATOMIC_ACQUIRE);
  const struct line *lines = __atomic_load_n(&line_table, __ATOMIC_ACQUIRE);
  for (uint32_t id = pair_inherited; id < end; id++) {
    uint32_t site = lines[lines_of_pairs[id].value].site.value - first;
    if (site < count) live_bytes[site] += (int64_t)pair_live(&pairs[id]) * pairs[id].size_bytes;
  }
  for (uint32_t line = 1; line < folds_capacity && line < line_count; line++) {
    uint32_t site = lines[line].site.value - first;
    if (site < count) live_bytes[site] -= (int64_t)(folds[line].added.allocated_bytes - folds[line].added.freed_bytes);
  }
}

// Of the small objects; the pairs' counts are all there is of them. At any time and in any thread.
void python_report_tally_add(enum ht_kind kind, struct kind_tally *tally) {
  if (kind != HT_KIND_PYTHON) return;
  uint32_t end = __atomic_load_n(&pair_count, __ATOMIC_ACQUIRE);
  const struct pair *pairs = __atomic_load_n(&pair_table, __ATOMIC_ACQUIRE);
  for (uint32_t id = pair_inherited; id < end; id++) {
    const struct pair *pair = &pairs[id];
    struct size_count *size = &tally->sizes[size_class(pair->size_bytes)];
    size->allocations += pair->allocations;
    size->bytes += pair->allocations * pair->size_bytes;
    tally->frees[0] += pair->frees - pair_temporaries(pair);
    tally->frees[1] += pair_temporaries(pair);
  }
}

static void arenas_fold(void) {
  uint64_t live_bytes = 0;
  for (uint32_t id = 1; id < pair_count; id++)
    live_bytes += (uint64_t)pair_live(&pair_table[id]) * pair_table[id].size_bytes;
  uint64_t free_bytes = arenas_free_bytes(live_bytes);
  report_python_arenas_set(free_bytes);
  // With malloc or mimalloc for objects there are no pools. After attach they hold blocks that nobody told of.
  if (free_bytes && !object_map_has_any_memory()) pinned_pools_find();
}

void python_report_release(void) {
  key_forget();
  line_table_release();
}

// Code objects that only the line table keeps alive must not be taken for the program's leaks.
static void code_release(struct thread *thread) {
  uint8_t suspended = thread->suspended;
  thread->suspended = 0;
  python_report_release();
  thread->suspended = suspended;
}

static void threads_look(void) {
  if (!python_interpreter_is_other(python_thread_state())) thread_titles_look();
}

void python_report_fold(void) {
  struct thread *thread = thread_self();
  if (!hook_python_ended && thread && !thread->in_hook && python_thread_state()) code_release(thread), threads_look();
  lines_fold();
  if (!hook_python_ended) arenas_fold();
}

void python_report_begin_again(void) {
  pair_begin_again();
  line_begin_again();
  object_scan_begin_again();
  thread_titles_begin_again();
}

void python_report_fork_child(void) {
  if (folds) memset(folds, 0, folds_capacity * sizeof *folds);
  object_holders_fork_child();
}

// ---- the end of the interpreter

// What the callers' frames hold is in their registers or on the stack above this frame.
static HT_NOINLINE void scan_origin_take(struct scan_origin *origin) {
  uintptr_t rbx, r12, r13, r14, r15;
  __asm__ volatile("mov %%rbx, %0; mov %%r12, %1; mov %%r13, %2; mov %%r14, %3; mov %%r15, %4"
                   : "=m"(rbx), "=m"(r12), "=m"(r13), "=m"(r14), "=m"(r15));
  *origin = (struct scan_origin){(uintptr_t)__builtin_frame_address(0), {rbx, r12, r13, r14, r15}};
}

// What is left from here on is the interpreter's own business: blocks of the parent's, which are roots.
static bool big_disown(const struct block *block, void *unused) {
  (void)unused;
  if (site_at(block->site)->kind != HT_KIND_PYTHON) return true;
  live_put_foreign(block->start, block->size_bytes, (site_id){0});
  return true;
}

static void big_disown_all(void) { live_walk(big_disown, NULL); }

// With the other threads parked: they do not run Python, but what they allocate stands in the same map.
static void leaks_keep(const struct scan_origin *origin) {
  struct scan_result result;
  if (!object_garbage_find())
    python_report_note("Python's leaks may lack some: no memory was left to look for cycles.");
  scan_run(origin, &result);
  object_scan_keep(&result);
  scan_result_drop(&result);
  object_garbage_drop();
  big_disown_all();
}

static void scan_final(struct thread *thread) {
  struct scan_origin origin;
  scan_origin_take(&origin);
  thread->suspended = 1;
  module_refresh(); // takes the loader's lock, which a parked thread might hold
  stop_begin();
  leaks_keep(&origin);
  stop_end();
  thread->suspended = 0;
}

HT_NOINLINE void python_report_final(void) {
  struct thread *thread = thread_self();
  if (!thread) return;
  code_release(thread);
  thread_titles_keep();
  hook_python_end();
  lines_fold();
  arenas_fold();
  thread->suspended = 1;
  object_holders_find();
  thread->suspended = 0;
  scan_final(thread);
}

void python_report_note(const char *text) { report_note_add(text); }
