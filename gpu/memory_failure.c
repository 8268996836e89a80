#include "memory_failure.h"

#include "../native/lock.h"
#include "../native/sampler.h"
#include "../native/site.h"
#include "../native/sys.h"
#include "../native/thread.h"
#include "block_table.h"
#include "pieces.h"
#include "streams.h"

struct memory_failure memory_failures[FAILURES_MAX];
uint64_t memory_failure_count;

// By site, while the holders are looked for.
struct held {
  uint64_t bytes, blocks;
};
struct holding {
  struct held *sites;
  uint32_t site_end;
  uint8_t device;
};

static bool block_add(struct gpu_block *block, void *context) {
  struct holding *holding = context;
  if (block->kind == HT_KIND_DEVICE && block->device == holding->device && block->site.value < holding->site_end) {
    holding->sites[block->site.value].bytes += block->size_bytes - block->taken_bytes;
    holding->sites[block->site.value].blocks++;
  }
  return true;
}

static void holder_insert(struct memory_failure *failure, struct failure_holder holder) {
  uint32_t at = failure->holder_count;
  while (at > 0 && failure->holders[at - 1].bytes < holder.bytes) {
    if (at < FAILURE_HOLDERS) failure->holders[at] = failure->holders[at - 1];
    at--;
  }
  if (at < FAILURE_HOLDERS) failure->holders[at] = holder;
  if (failure->holder_count < FAILURE_HOLDERS) failure->holder_count++;
}

static void holders_find_locked(struct memory_failure *failure) {
  struct holding holding = {.site_end = site_count, .device = failure->device};
  size_t bytes = holding.site_end * sizeof *holding.sites;
  holding.sites = sys_map(bytes);
  if (!holding.sites) return;
  block_each_locked(block_add, &holding);
  for (uint32_t id = 0; id < holding.site_end; id++)
    if (holding.sites[id].bytes)
      holder_insert(failure, (struct failure_holder){{id}, holding.sites[id].bytes, holding.sites[id].blocks});
  sys_unmap(holding.sites, bytes);
}

void memory_failure_note(struct thread *thread, site_id site, uint64_t asked_bytes, uint8_t device) {
  (void)thread;
  lock_take(thread_front_lock());
  uint64_t place = memory_failure_count++;
  struct memory_failure *failure = &memory_failures[place < FAILURES_MAX ? place : FAILURES_MAX - 1];
  *failure = (struct memory_failure){.site = site,
                                     .device = device,
                                     .at_ns = sampler_elapsed_ns(),
                                     .asked_bytes = asked_bytes,
                                     .live_bytes = gpu_devices[device].use.live_bytes,
                                     .gap_bytes = pieces_largest_gap_locked(device)};
  holders_find_locked(failure);
  lock_drop(thread_front_lock());
}
