#include "page_tree.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define NOT_TAKEN UINT32_MAX

struct page_tree page_tree_make(void) {
  struct page_tree tree = {.texts = {.item_bytes = sizeof(const char *)},
                           .frames = {.item_bytes = sizeof(struct page_frame)},
                           .nodes = {.item_bytes = sizeof(struct page_node)}};
  interned_add(&tree.texts, &(const char *){NULL});
  // A node that cannot come from a report, so that number 0 stays the empty stack.
  interned_add(&tree.nodes, &(struct page_node){0, UINT32_MAX});
  return tree;
}

void page_tree_free(struct page_tree *tree) {
  interned_free(&tree->texts);
  interned_free(&tree->frames);
  interned_free(&tree->nodes);
  pool_free(&tree->pool);
}

uint32_t page_tree_text(struct page_tree *tree, const char *text) {
  const char *kept = pool_text(&tree->pool, text);
  return interned_add(&tree->texts, &kept);
}

static uint32_t frame_take(struct page_tree *tree, const struct shown_frame *from) {
  struct page_frame frame = {
      .function = page_tree_text(tree, from->function),
      .file = page_tree_text(tree, from->file),
      .module = page_tree_text(tree, from->module),
      .line = from->line,
      .column = from->column,
      .flags = (uint32_t)from->language | (from->runtime && !frame_is_label(from) ? PAGE_FRAME_RUNTIME : 0),
  };
  // With a name, the address tells nothing more.
  if (!from->function && from->has_offset) {
    frame.flags |= PAGE_FRAME_OFFSET;
    frame.offset = from->offset;
  }
  return interned_add(&tree->frames, &frame);
}

uint32_t page_tree_process(struct page_tree *tree, const char *name) {
  struct page_frame frame = {.function = page_tree_text(tree, name), .flags = LANGUAGE_NONE | PAGE_FRAME_PROCESS};
  return interned_add(&tree->nodes, &(struct page_node){0, interned_add(&tree->frames, &frame)});
}

// A wanted stack needs all its nodes: marks them, from the inside outwards.
static bool *nodes_needed(const struct stacks *stacks, const bool *wanted) {
  bool *needed = memory_get(stacks->node_count, sizeof *needed);
  for (size_t i = stacks->node_count; i-- > 1;) {
    needed[i] |= wanted[i];
    if (needed[i]) needed[stacks->nodes[i].parent] = true;
  }
  return needed;
}

uint32_t *page_tree_add(struct page_tree *tree, const struct stacks *stacks, const bool *wanted, uint32_t process) {
  uint32_t *frame_of = memory_get(stacks->frame_count, sizeof *frame_of);
  uint32_t *node_of = memory_get(stacks->node_count, sizeof *node_of);
  bool *needed = nodes_needed(stacks, wanted);
  node_of[0] = process;
  memset(frame_of, 0xff, stacks->frame_count * sizeof *frame_of);
  for (size_t i = 1; i < stacks->node_count; i++) { // parents come first
    if (!needed[i]) continue;
    struct shown_node node = stacks->nodes[i];
    if (frame_of[node.frame] == NOT_TAKEN) frame_of[node.frame] = frame_take(tree, &stacks->frames[node.frame]);
    node_of[i] = interned_add(&tree->nodes, &(struct page_node){node_of[node.parent], frame_of[node.frame]});
  }
  free(needed);
  free(frame_of);
  return node_of;
}
