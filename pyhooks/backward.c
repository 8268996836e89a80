#include "backward.h"

#include "../native/live.h"
#include "../native/lock.h"
#include "../native/site.h"
#include "../native/thread.h"

// Passes by their GraphTask, in the places that its address leads to; guarded by site_lock. One that has ended stays
// until another takes its address or place: there are as many places as hardly any program has passes at once.
#define PLACES 64u
#define PASSES_A_PLACE 16u
static struct pass {
  const void *task;
  uint32_t tid, lines;
} passes[PLACES][PASSES_A_PLACE];
static uint8_t next_in_place[PLACES];

static uint32_t place_of(const void *task) { return (uint32_t)(((uintptr_t)task >> 4) * 0x9E3779B1u >> 16) % PLACES; }

static struct pass *pass_find_locked(const void *task) {
  struct pass *place = passes[place_of(task)];
  for (uint32_t i = 0; i < PASSES_A_PLACE; i++)
    if (place[i].task == task) return &place[i];
  return NULL;
}

void backward_asked(const void *task, uint32_t tid, uint32_t lines) {
  lock_take(site_lock());
  struct pass *pass = pass_find_locked(task);
  uint32_t place = place_of(task);
  if (!pass) pass = &passes[place][next_in_place[place]++ % PASSES_A_PLACE];
  *pass = (struct pass){task, tid, lines};
  lock_drop(site_lock());
}

// A Node has a block of its own, behind the counts of a std::shared_ptr where std::make_shared made both (libstdc++,
// bits/shared_ptr_base.h).
#define COUNTS_BYTES 16u

static uint32_t allocated_at(const void *node) {
  struct block block;
  uintptr_t start = (uintptr_t)node;
  bool known = start % 16 == 0 && (live_peek(start, &block) || live_peek(start - COUNTS_BYTES, &block));
  return known && !site_is_inherited(block.site) ? site_at(block.site)->node : 0;
}

uint32_t backward_node(const struct behalf_work *work, uint32_t outer) {
  uint32_t made = allocated_at(work->object), node = outer;
  lock_take(site_lock());
  const struct pass *pass = pass_find_locked(work->group);
  if (pass && pass->tid != thread_tls->tid)
    node = behalf_label_locked(0, behalf_join_lines_locked(0, pass->lines), BEHALF_QUEUED);
  node = behalf_label_locked(node, behalf_join_lines_locked(node, made), BEHALF_BACKWARD);
  lock_drop(site_lock());
  return node;
}
