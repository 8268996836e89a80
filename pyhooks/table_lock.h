// Who may change pyhooks' tables: whoever holds the GIL, and is inside a hook. From the second interpreter on there
// may be several GILs (3.12), and a lock is taken as well.
#ifndef HT_TABLE_LOCK_H
#define HT_TABLE_LOCK_H

#include "../native/core.h"
#include "../native/lock.h"
#include "python_api.h"

extern bool table_lock_needed; // set once
extern struct lock table_lock; // the first lock that a hook takes here

// A thread of an interpreter that is not python.main_interpreter allocates. Not inside a hook.
void table_lock_begin(struct thread *thread);
void table_lock_fork_child(void);

HT_INLINE void tables_enter(struct thread *thread) {
  ht_hook_begin(thread);
  if (unlikely(table_lock_needed)) lock_take(&table_lock);
}
HT_INLINE void tables_leave(struct thread *thread) {
  if (unlikely(table_lock_needed)) lock_drop(&table_lock);
  ht_hook_end(thread);
}

#endif
