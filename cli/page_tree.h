// The stacks of all reports as one tree for the page: texts, frames and nodes kept once, whatever process they are of.
#ifndef HT_PAGE_TREE_H
#define HT_PAGE_TREE_H

#include <stdint.h>

#include "interned.h"
#include "pool.h"
#include "stacks.h"

// `flags` of a frame: its enum language, and these.
enum { PAGE_FRAME_RUNTIME = 4, PAGE_FRAME_OFFSET = 8, PAGE_FRAME_PROCESS = 16 };

struct page_frame {
  uint32_t function, file, module; // texts, 0: unknown
  uint32_t line, column, flags;
  uint64_t offset;
};

struct page_node {
  uint32_t parent; // smaller than its own number; 0: none
  uint32_t frame;
};

struct page_tree {
  struct pool pool;
  struct interned texts;  // const char *, [0]: NULL
  struct interned frames; // struct page_frame
  struct interned nodes;  // struct page_node, [0]: the empty stack
};

struct page_tree page_tree_make(void);
void page_tree_free(struct page_tree *tree);

// The number of a text; of NULL 0.
uint32_t page_tree_text(struct page_tree *tree, const char *text);

// The node of a process, which its stacks begin with.
uint32_t page_tree_process(struct page_tree *tree, const char *name);

// Takes over the stacks that `wanted`, by node of `stacks`, names, below the node `process`. Returns the tree's node by
// node of `stacks`, in new memory.
uint32_t *page_tree_add(struct page_tree *tree, const struct stacks *stacks, const bool *wanted, uint32_t process);

#endif
