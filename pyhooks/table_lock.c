#include "table_lock.h"

#include <linux/membarrier.h>

#include "detour.h"

bool table_lock_needed;
struct lock table_lock = LOCK_INIT(LOCK_RANK_SAMPLE);

#define PATIENCE 1000000 // turns; a hook takes far fewer

static void wait_outside(struct thread *thread, void *self) {
  for (int i = 0; i < PATIENCE && thread != self && __atomic_load_n(&thread->in_hook, __ATOMIC_ACQUIRE); i++)
    __builtin_ia32_pause();
}

// Whoever is in a hook without the lock is waited for; whoever comes later sees that it is needed.
void table_lock_begin(struct thread *thread) {
  if (table_lock_needed) return;
  __atomic_store_n(&table_lock_needed, true, __ATOMIC_SEQ_CST);
  detour_set(DETOUR_LOCK);
  sys_call3(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
  thread_each(wait_outside, thread);
}

// Another thread of the parent's may have held it.
void table_lock_fork_child(void) { table_lock.state = 0; }
