// Futex locks. A thread that holds one is inside heaptide and never waits for anything of the program's, so
// holding times are short. Ranks: a lock may only be taken while all locks held have a smaller rank; fork
// (thread.c) takes them all in this order.
#ifndef HT_LOCK_H
#define HT_LOCK_H

#include <linux/futex.h>
#include <sys/syscall.h>

#include "sys.h"

enum lock_rank {
  LOCK_RANK_REPORT,  // one report at a time
  LOCK_RANK_STARTS,  // arguments of threads being born
  LOCK_RANK_SAMPLE,  // the timeline
  LOCK_RANK_MARKS,   // the program's marks
  LOCK_RANK_FRONT,   // tables of the GPU front end
  LOCK_RANK_RANGES,  // the map of mmap blocks
  LOCK_RANK_THREADS, // the list of threads
  LOCK_RANK_PEAK,    // the peaks
  LOCK_RANK_SITES,   // new sites, nodes, frames
  LOCK_RANK_RULES,   // new unwind rules
  LOCK_RANK_MODULES, // new modules
  LOCK_RANK_BIG,     // the live map's side table
  LOCK_RANK_SYS,     // own memory
  LOCK_RANK_COUNT,
};

struct lock {
  int state; // 0 free, 1 taken, 2 taken and somebody waits
  uint8_t rank;
};
#define LOCK_INIT(rank_)                                                                                               \
  { .state = 0, .rank = (rank_) }

// How many locks the calling thread holds or is about to: while there are any it is not parked (stop.h).
extern __thread uint8_t lock_depth __attribute__((tls_model("initial-exec")));

void lock_wait(struct lock *lock);

HT_INLINE void lock_take(struct lock *lock) {
  int free_state = 0;
  lock_depth++;
  __asm__ volatile("" ::: "memory");
  if (unlikely(!__atomic_compare_exchange_n(&lock->state, &free_state, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)))
    lock_wait(lock);
}

HT_INLINE bool lock_try(struct lock *lock) {
  int free_state = 0;
  lock_depth++;
  __asm__ volatile("" ::: "memory");
  if (__atomic_compare_exchange_n(&lock->state, &free_state, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return true;
  lock_depth--;
  return false;
}

HT_INLINE void lock_drop(struct lock *lock) {
  if (unlikely(__atomic_exchange_n(&lock->state, 0, __ATOMIC_RELEASE) == 2))
    sys_call4(SYS_futex, (long)&lock->state, FUTEX_WAKE_PRIVATE, 1, 0);
  __asm__ volatile("" ::: "memory");
  lock_depth--;
}

#endif
