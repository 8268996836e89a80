#include "behalf_lines.h"

#include "../native/core.h"
#include "../native/lock.h"
#include "../native/site.h"
#include "backward.h"
#include "interpreter_life.h"
#include "line_table.h"
#include "object_blocks.h"
#include "queued_call.h"
#include "running_frame.h"
#include "thread_title.h"

// The innermost frame of the calling thread, whether it holds the GIL or let go of it in a call; NULL: none.
static const char *frame_here(void) {
  const void *state = interpreter_frames_readable() ? python_thread_state_anyway() : NULL;
  return state ? frame_innermost(&frame_layout, state) : NULL;
}

// The lines of `inner` that are of its own thread, behind the node `outer`, and the label.
static uint32_t lines_labelled(uint32_t outer, uint32_t inner, const char *label) {
  lock_take(site_lock());
  uint32_t node = behalf_label_locked(outer, behalf_join_lines_locked(outer, inner), label);
  lock_drop(site_lock());
  return node;
}

uint32_t behalf_lines_here(void) {
  const char *frame = frame_here();
  return frame ? line_node_whole(frame) : 0;
}

// ---- what a thread does

// Whether an executor's thread is at a call, which then is `call`. What stands for a call may be where that of the last
// one was; the node that it was allocated with tells them apart.
static bool call_look(struct behalf_chain *chain, const char *frame) {
  const void *item = queued_call_around(frame);
  struct block block = item ? object_block_at((uintptr_t)item) : (struct block){0};
  if (!block.site.value) return false;
  uint32_t made = site_at(block.site)->node;
  if (chain->call_made != made) chain->call = (struct behalf){.node = lines_labelled(0, made, BEHALF_QUEUED)};
  chain->call_made = made;
  return chain->call.node;
}

static struct behalf *call_or_begin(struct behalf_chain *chain, const void *thread_state) {
  if (chain->is_executors && thread_state && interpreter_frames_readable() &&
      call_look(chain, frame_innermost(&frame_layout, thread_state)))
    return &chain->call;
  return &chain->begun;
}

// What the thread is at.
static struct behalf *behalf_now(struct behalf_chain *chain, const void *thread_state) {
  struct behalf *now = call_or_begin(chain, thread_state);
  struct behalf_work *work = chain->work;
  if (!work) return now;
  if (!work->node_looked_up) work->behalf.node = backward_node(work, now->node);
  work->node_looked_up = true;
  return &work->behalf;
}

uint32_t behalf_lines_join(const void *thread_state, uint32_t own) {
  struct behalf_chain *chain = &thread_tls->behalf;
  if (likely(!chain->begun.node && !chain->is_executors && !chain->work)) return own;
  struct behalf *now = behalf_now(chain, thread_state);
  if (!now->node) return own;
  if (now->joined && now->own == own) return now->joined;
  lock_take(site_lock());
  now->joined = behalf_join_locked(now->node, own);
  lock_drop(site_lock());
  now->own = own;
  return now->joined;
}

// ---- threads that begin

// A thread may do other work than what it was started for: whose, only some of its stacks can tell. In an executor's
// call it is started on behalf of who queued that.
static void begun_of_new(struct behalf_chain *chain) {
  struct thread *thread = thread_self();
  const char *frame = thread && !thread_busy(thread) ? frame_here() : NULL;
  if (!frame) return;
  const char *start = thread_start_frame(frame);
  chain->is_executors = start ? queued_call_starts_thread(start) : false;
  ht_hook_begin(thread);
  bool in_call = thread->behalf.is_executors && call_look(&thread->behalf, frame);
  chain->begun.node = lines_labelled(in_call ? thread->behalf.call.node : 0, line_node_whole(frame), BEHALF_STARTED);
  ht_hook_end(thread);
}

void behalf_lines_start(void) { behalf_set_source(begun_of_new); }
