// What threads that have ended allocated. A thread's struct goes on to another thread; this is what stays of it.
#ifndef HT_ENDED_THREADS_H
#define HT_ENDED_THREADS_H

#include "thread_name.h"
#include "words.h"

// Of more than that those with the fewest allocations are added up, and the report shows one row for them.
#define ENDED_THREADS 1024u

struct ended_thread {
  uint32_t tid;
  char name[THREAD_NAME_BYTES]; // "": unknown
  uint64_t allocations;
  int64_t net_bytes; // thread_net_bytes
};

// All under LOCK_RANK_THREADS, or with the world parked.
struct ended_threads {
  uint32_t count;
  struct ended_thread rows[ENDED_THREADS];
  uint64_t rest_threads, rest_allocations;
  int64_t rest_net_bytes;
};
extern struct ended_threads ended_threads;

// Nothing is kept of a thread that never allocated.
void ended_threads_add_locked(const struct ended_thread *thread);
// In the fork child: they were the parent's.
void ended_threads_forget(void);

#endif
