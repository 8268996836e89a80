// Stacks as they are shown: names in place of addresses, inlined functions as frames of their own, heaptide's frames
// gone, cut at the process's depth. Equal frames and equal stacks are kept once, so that sites which look the same are
// the same stack here.
#ifndef HT_STACKS_H
#define HT_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "pool.h"
#include "symbols.h"

// NONE: [truncated], [on behalf of], named rows.
enum language { LANGUAGE_NATIVE, LANGUAGE_PYTHON, LANGUAGE_JIT, LANGUAGE_NONE };

// The function of the frame behind a stack that was cut at the process's depth.
#define STACK_TRUNCATED "[truncated]"

// Unknown fields are NULL or 0. Texts are pooled: equal ones have equal pointers.
struct shown_frame {
  enum language language;
  bool in_library; // native code that is not the program's own
  bool runtime;    // of libc, an allocator, a language's runtime: never the site where another frame is there
  const char *function, *file, *module;
  uint32_t line, column;
  bool column_tells; // another frame differs from this one by its column alone
  bool has_offset;
  uint64_t offset; // address in the module's ELF file; of JIT code the run-time address
};

struct shown_node {
  uint32_t parent; // node: the next frame out; 0: none
  uint32_t frame;  // index
};

struct stacks {
  struct pool texts;
  struct shown_frame *frames;
  struct shown_node *nodes; // [0]: the empty stack
  size_t frame_count, frame_capacity, node_count, node_capacity;
  uint32_t *frame_table, *node_table; // open hash tables of index + 1, index
  size_t frame_table_capacity, node_table_capacity;
  uint32_t *of_site;  // by the report's site: its stack, a node
  uint32_t *of_frame; // by the report's frame: its innermost shown frame + 1, 0: not shown
};

// What follows further out queued what stands further in: `[on behalf of]` and the like.
bool frame_is_label(const struct shown_frame *frame);

// The reports' modules and frames have been added to `symbols` by stacks_want, and resolved.
// What stacks_want found is passed on: free with free().
struct stack_wishes {
  uint32_t *entries; // by the report's frame: symbols' entry, UINT32_MAX: none
  uint32_t *modules; // by the report's module: symbols' module
};
struct stack_wishes stacks_want(const struct report *report, struct symbols *symbols);
void stacks_make(struct stacks *stacks, const struct report *report, const struct symbols *symbols,
                 const struct stack_wishes *wishes);
void stack_wishes_free(struct stack_wishes *wishes);

// The frame that stands for a stack: the first from the leaf that is not a runtime's, where all are the outermost of
// them. Native code whose lines are not known gives way to the line of Python that called it. NULL: the stack is empty.
const struct shown_frame *stack_site(const struct stacks *stacks, uint32_t node);

// The frames of a stack, leaf first: for (node = start; node; node = stack_outer(stacks, node)) stack_frame(...).
static inline const struct shown_frame *stack_frame(const struct stacks *stacks, uint32_t node) {
  return &stacks->frames[stacks->nodes[node].frame];
}
// The stack from its first line of Python on; without one, the whole stack.
uint32_t stack_from_python(const struct stacks *stacks, uint32_t node);
static inline uint32_t stack_outer(const struct stacks *stacks, uint32_t node) { return stacks->nodes[node].parent; }

void stacks_free(struct stacks *stacks);

#endif
