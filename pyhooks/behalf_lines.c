#include "behalf_lines.h"

#include "../native/core.h"
#include "../native/lock.h"
#include "../native/site.h"
#include "backward.h"
#include "hook_python.h"
#include "interpreter_life.h"
#include "line_table.h"
#include "object_blocks.h"
#include "queued_call.h"
#include "running_frame.h"
#include "thread_title.h"

static bool layout_known(void) {
  return running_frame_proved && !running_frame_slow && interpreter_phase == INTERPRETER_UP && !hook_python_ended;
}

// The innermost frame of the calling thread, whether it holds the GIL or let go of it in a call; NULL: none.
static const char *frame_here(void) {
  const void *state = layout_known() ? python_thread_state_anyway() : NULL;
  return state ? frame_innermost(&frame_layout, state) : NULL;
}

// ---- threads that begin

static uint32_t labelled(uint32_t lines, const char *label) {
  lock_take(site_lock());
  uint32_t node = behalf_label_locked(0, behalf_join_lines_locked(0, lines), label);
  lock_drop(site_lock());
  return node;
}

// A thread may do other work than what it was started for: whose, only some of its stacks can tell.
static void begun_of_new(struct behalf_chain *new) {
  struct thread *thread = thread_self();
  const char *frame = thread && !thread_busy(thread) ? frame_here() : NULL;
  if (!frame) return;
  const char *start = thread_start_frame(frame);
  new->takes_calls = start != NULL &&queued_call_starts_thread(start);
  ht_hook_begin(thread);
  new->begun.node = labelled(line_node_whole(frame), BEHALF_STARTED);
  ht_hook_end(thread);
}

void behalf_lines_start(void) { behalf_set_source(begun_of_new); }

uint32_t behalf_lines_here(void) {
  const char *frame = frame_here();
  return frame ? line_node_whole(frame) : 0;
}

// ---- what a thread does

// Whether an executor's thread is at a call, which then is `call`. What stands for a call may be where that of the last
// one was; the node that it was allocated with tells them apart.
static bool call_look(struct behalf *call, const void *thread_state) {
  const void *item = queued_call_around(frame_innermost(&frame_layout, thread_state));
  struct block block = item ? object_block_at((uintptr_t)item) : (struct block){0};
  if (!block.site.value) return false;
  const void *made = (const void *)(uintptr_t)site_at(block.site)->node;
  if (call->work != made)
    *call = (struct behalf){.work = made, .node = labelled(site_at(block.site)->node, BEHALF_QUEUED)};
  return call->node;
}

static struct behalf *call_or_begun(struct behalf_chain *chain, const void *thread_state) {
  if (chain->takes_calls && thread_state && layout_known() && call_look(&chain->call, thread_state))
    return &chain->call;
  return &chain->begun;
}

// What the thread is at.
static struct behalf *behalf_now(struct behalf_chain *chain, const void *thread_state) {
  struct behalf *now = call_or_begun(chain, thread_state);
  if (!chain->work) return now;
  struct behalf *work = &chain->work->behalf;
  if (!work->is_known) work->node = backward_node(work, now->node);
  work->is_known = true;
  return work;
}

uint32_t behalf_lines_join(const void *thread_state, uint32_t own) {
  struct behalf_chain *chain = &thread_tls->behalf;
  if (likely(!chain->begun.node && !chain->takes_calls && !chain->work)) return own;
  struct behalf *now = behalf_now(chain, thread_state);
  if (!now->node) return own;
  if (now->joined && now->own == own) return now->joined;
  lock_take(site_lock());
  now->joined = behalf_join_locked(now->node, own);
  lock_drop(site_lock());
  now->own = own;
  return now->joined;
}
