#include "watch_threads.h"

#include <stdlib.h>

#include "memory.h"

static int tid_compare(const void *left, const void *right) {
  const struct view_thread *a = left, *b = right;
  return (a->tid > b->tid) - (a->tid < b->tid);
}

// An older recorder does not say which threads have ended.
static bool thread_lives(const struct report *report, uint32_t index) {
  return report->threads[index].tid &&
         (!report->thread_state_count || report->thread_states[index].flags & HT_THREAD_LIVES);
}

static int64_t thread_net(const struct report *report, uint32_t index) {
  return report->thread_state_count ? report->thread_states[index].net_bytes : 0;
}

// ---- those that have ended

struct ended_sum {
  uint32_t rows;
  bool more; // than rows: those without one of their own
  struct view_thread thread;
};

static void ended_add(struct ended_sum *ended, const struct report *report, uint32_t index) {
  ended->rows += report->threads[index].tid != 0;
  ended->more |= report->threads[index].tid == 0;
  ended->thread.allocations += report->threads[index].allocations;
  ended->thread.net_bytes = (int64_t)((uint64_t)ended->thread.net_bytes + (uint64_t)thread_net(report, index));
}

static const char *ended_name(const struct ended_sum *ended, struct pool *texts) {
  char *name =
      ended->more ? memory_format("[ended, and with few allocations]") : memory_format("[%u ended]", ended->rows);
  const char *pooled = pool_text(texts, name);
  free(name);
  return pooled;
}

// ---- rows

void watch_threads_make(struct view *view, const struct report *report, struct pool *texts) {
  struct ended_sum ended = {0};
  view->thread_rows = memory_get((size_t)report->thread_count + 1, sizeof *view->thread_rows);
  for (uint32_t i = 0; i < report->thread_count; i++) {
    const struct ht_file_thread *thread = &report->threads[i];
    if (thread_lives(report, i))
      view->thread_rows[view->thread_row_count++] =
          (struct view_thread){.tid = thread->tid,
                               .name = pool_text(texts, report->strings + thread->name),
                               .net_bytes = thread_net(report, i),
                               .allocations = thread->allocations};
    else
      ended_add(&ended, report, i);
  }
  ended.thread.name = ended_name(&ended, texts);
  if (ended.rows || ended.more) view->thread_rows[view->thread_row_count++] = ended.thread;
  qsort(view->thread_rows, view->thread_row_count, sizeof *view->thread_rows, tid_compare);
}

// A number of calls that went back is another thread's, of the same tid.
static struct view_thread thread_before(const struct view *before, const struct view_thread *thread) {
  const struct view_thread *old =
      bsearch(thread, before->thread_rows, before->thread_row_count, sizeof *thread, tid_compare);
  return old && old->allocations <= thread->allocations ? *old : (struct view_thread){0};
}

void watch_threads_rates(struct view *view, const struct view *before, double seconds) {
  for (size_t i = 0; i < view->thread_row_count && seconds > 0; i++) {
    struct view_thread *thread = &view->thread_rows[i];
    if (!thread->tid) continue; // it rises by all that a thread did when that ends
    struct view_thread old = thread_before(before, thread);
    thread->growth_bytes_per_s = ((double)thread->net_bytes - (double)old.net_bytes) / seconds;
    thread->allocations_per_s = (double)(thread->allocations - old.allocations) / seconds;
  }
}
