// Device allocations that failed for want of memory: what was asked where, and who held the memory at that moment.
#ifndef HT_MEMORY_FAILURE_H
#define HT_MEMORY_FAILURE_H

#include "../native/words.h"

#define FAILURES_MAX 8 // the first ones, and the last in the last place
#define FAILURE_HOLDERS 8

struct failure_holder {
  site_id site;
  uint64_t bytes, blocks;
};

struct memory_failure {
  site_id site;
  uint8_t device;
  uint64_t at_ns, asked_bytes, live_bytes, gap_bytes; // gap: the largest unused piece of a framework's pool
  uint32_t holder_count;
  struct failure_holder holders[FAILURE_HOLDERS]; // largest first
};

extern struct memory_failure memory_failures[FAILURES_MAX];
extern uint64_t memory_failure_count;

struct thread;
// Inside a hook.
void memory_failure_note(struct thread *thread, site_id site, uint64_t asked_bytes, uint8_t device);

#endif
