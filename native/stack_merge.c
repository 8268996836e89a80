#include "stack_merge.h"

#include "stack_table.h"

static struct merge_front front;
void stack_merge_set(const struct merge_front *wanted) { front = *wanted; }

#define MARK_BEYOND UINTPTR_MAX

// All guarded by site_lock: too large for the stack of a thread that may have 16 KiB.
static struct {
  uint32_t frames[MERGE_MAX]; // innermost first
  uintptr_t marks[MERGE_MAX]; // rising
  uint32_t count;
  uint32_t own; // of the thread itself; the others are those on whose behalf it works (behalf.h)
} lines;

// ---- which evaluator runs which line

static bool is_evaluator(uintptr_t return_address) {
  return return_address - 1 >= front.code_start && return_address - 1 < front.code_end;
}

// One frame an evaluator, innermost first.
static uint32_t marks_by_code(const struct stack_memo *memo, uintptr_t *marks, uint32_t capacity) {
  uint32_t count = 0;
  for (uint32_t i = memo->count; i-- > memo->window_start && count < capacity;)
    if (is_evaluator(memo->frames[i].value)) marks[count++] = memo->frames[i].slot + 1;
  return count;
}

static void lines_take(const struct stack_memo *memo, uint32_t line_node) {
  lines.count = 0;
  lines.own = UINT32_MAX;
  for (uint32_t node = line_node; node_is_frame(node) && lines.count < MERGE_MAX; node = node_table[node].parent) {
    bool is_behalf = frame_table[node_table[node].frame].kind == HT_FRAME_BEHALF;
    if (is_behalf && lines.own > lines.count) lines.own = lines.count;
    lines.frames[lines.count++] = node_table[node].frame;
  }
  if (lines.own > lines.count) lines.own = lines.count;
  uint32_t known = front.marks ? front.marks(lines.marks, lines.own) : marks_by_code(memo, lines.marks, lines.own);
  for (uint32_t i = known; i < lines.own; i++) lines.marks[i] = MARK_BEYOND;
}

// ---- from the outermost frame of the window in

// A frame reaches from the slot of the return address that leads to it to the slot of its own return address.
static uintptr_t frame_end(const struct stack_memo *memo, uint32_t frame) {
  return frame > 0 ? memo->frames[frame - 1].slot : MARK_BEYOND;
}

static uint32_t lines_push_behalf(uint32_t node) {
  while (lines.count > lines.own) node = node_intern_locked(node, lines.frames[--lines.count]);
  return node;
}

// The lines marked at or after `from` that are not in the stack yet.
static uint32_t lines_push(uint32_t node, uintptr_t from) {
  for (; lines.count && lines.marks[lines.count - 1] >= from; lines.count--)
    node = node_intern_locked(node, lines.frames[lines.count - 1]);
  return node;
}

static uint32_t native_push(const struct stack_memo *memo, uint32_t node, uint32_t frame) {
  uintptr_t address = memo->frames[frame].value;
  if (address < 4096) return node; // a null return address ends a stack, it is no frame
  return node_intern_locked(node, frame_native_locked(address, stack_memo_is_interrupted(memo, frame)));
}

node_id stack_merge_node(const struct stack_memo *memo, uint32_t line_node) {
  bool cut = memo->window_start > 0 || !memo->complete;
  lines_take(memo, line_node);
  uint32_t node = lines_push_behalf(stack_memo_outermost_locked(memo, false)), at = memo->window_start;
  if (cut) node = node_intern_locked(node, FRAME_TRUNCATED);
  if (at < memo->count) node = lines_push(node, frame_end(memo, at));
  for (; at < memo->count; at++) {
    uint32_t left = lines.count;
    node = lines_push(node, memo->frames[at].slot);
    if (lines.count == left) node = native_push(memo, node, at);
  }
  return (node_id){lines_push(node, 0)};
}
