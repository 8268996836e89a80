#include "mark.h"

#include "core.h"
#include "count.h"
#include "lock.h"
#include "sampler.h"
#include "sys.h"
#include "thread.h"

static struct lock marks_lock = LOCK_INIT(LOCK_RANK_MARKS);
static struct marks *marks;        // made with the first mark; written under marks_lock
static uint64_t interrupted_marks; // atomic: of signal handlers inside hooks

struct lock *mark_lock(void) {
  return &marks_lock;
}

const struct marks *mark_all(void) { return __atomic_load_n(&marks, __ATOMIC_ACQUIRE); }

uint64_t mark_left_out(void) {
  return (marks ? marks->left_out : 0) + __atomic_load_n(&interrupted_marks, __ATOMIC_RELAXED);
}

// The time is taken under the lock, so that marks stand in its order.
static void mark_locked(const char *name) {
  if (!marks) __atomic_store_n(&marks, sys_map(sizeof *marks), __ATOMIC_RELEASE);
  if (!marks) return;
  int64_t live_bytes = count_live(GAUGE_ALL);
  marks_add(marks, name, sampler_elapsed_ns(), live_bytes > 0 ? (uint64_t)live_bytes : 0);
}

HT_EXPORT void ht_mark(const char *name) {
  struct thread *thread = thread_self();
  if (!thread || !thread_recording()) return;
  if (thread->in_hook) {
    __atomic_add_fetch(&interrupted_marks, 1, __ATOMIC_RELAXED);
    return;
  }
  ht_hook_begin(thread);
  sampler_tick(thread); // samples of the time up to here do not wait for the next budget's end
  lock_take(&marks_lock);
  mark_locked(name ? name : "");
  lock_drop(&marks_lock);
  ht_hook_end(thread);
}

void mark_fork_child(void) {
  interrupted_marks = 0;
  if (marks) marks_clear(marks);
}
