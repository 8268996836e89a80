#include "behalf.h"

#include <string.h>

#include "stack_table.h"

static behalf_source source; // NULL: none

void behalf_set_source(behalf_source given) { source = given; }

void behalf_of_new(struct behalf_chain *begun) {
  if (source) source(begun);
}

#define JOIN_MAX 512u             // frames; what lies further out is left out
static uint32_t frames[JOIN_MAX]; // guarded by site_lock: too large for the stack of a thread that may have 16 KiB

static uint32_t join(uint32_t outer, uint32_t inner, bool lines_only) {
  uint32_t count = 0;
  for (uint32_t node = inner; node_is_frame(node) && count < JOIN_MAX; node = node_table[node].parent) {
    uint32_t frame = node_table[node].frame, kind = frame_table[frame].kind;
    if (lines_only && kind == HT_FRAME_BEHALF) break;
    if (!lines_only || kind == HT_FRAME_PYTHON) frames[count++] = frame;
  }
  while (count) outer = node_intern_locked(outer, frames[--count]);
  return outer;
}

uint32_t behalf_join_locked(uint32_t outer, uint32_t inner) { return join(outer, inner, false); }
uint32_t behalf_join_lines_locked(uint32_t outer, uint32_t inner) { return join(outer, inner, true); }

uint32_t behalf_label_locked(uint32_t outer, uint32_t lines, const char *label) {
  if (lines == outer) return outer;
  return node_intern_locked(lines, frame_intern_locked(&(struct frame){
                                       .kind = HT_FRAME_BEHALF, .module = string_intern_locked(label, strlen(label))}));
}
