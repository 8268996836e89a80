#include "ended_threads.h"

struct ended_threads ended_threads;
static uint32_t least; // the row with the fewest allocations, once all are in use

static void rest_add(const struct ended_thread *thread) {
  ended_threads.rest_threads++;
  ended_threads.rest_allocations += thread->allocations;
  ended_threads.rest_net_bytes += thread->net_bytes;
}

static void least_find(void) {
  for (uint32_t i = 0; i < ENDED_THREADS; i++)
    if (ended_threads.rows[i].allocations < ended_threads.rows[least].allocations) least = i;
}

void ended_threads_add_locked(const struct ended_thread *thread) {
  if (!thread->allocations) return;
  if (ended_threads.count < ENDED_THREADS) {
    ended_threads.rows[ended_threads.count++] = *thread;
    if (ended_threads.count == ENDED_THREADS) least_find();
  } else if (thread->allocations <= ended_threads.rows[least].allocations) {
    rest_add(thread);
  } else {
    rest_add(&ended_threads.rows[least]);
    ended_threads.rows[least] = *thread;
    least_find();
  }
}

void ended_threads_forget(void) {
  ended_threads.count = least = 0;
  ended_threads.rest_threads = ended_threads.rest_allocations = 0;
  ended_threads.rest_net_bytes = 0;
}
