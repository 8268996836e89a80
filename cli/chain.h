// Chains of functions: what stays the same of a stack when a program is changed and built again. Lines, addresses and
// runtimes' frames are left out, a function that calls itself counts once, and what compilers append to a name goes.
// Equal chains of both reports get the same number.
#ifndef HT_CHAIN_H
#define HT_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool.h"
#include "stacks.h"

struct chain_link {
  uint32_t parent;                 // the chain further out, 0: none
  const char *function;            // pooled
  const struct shown_frame *frame; // the first one that came here, of any report
};

struct chains {
  struct pool texts;
  struct chain_link *links; // [0]: the empty chain
  size_t count, capacity;
  uint32_t *table; // open hash table of link index
  size_t table_capacity;
};

void chains_make(struct chains *chains);
void chains_free(struct chains *chains);

// Whether a module's addresses mean the same in both reports, as it is the same build in both.
typedef bool chain_same_build(const void *context, const char *module);

// The chains of one report's stacks.
struct stack_chains {
  uint32_t *own;  // by node of the stacks: without runtimes' frames
  uint32_t *all;  // with them
  bool *nameless; // a frame in it has no name, and its address means nothing in the other report
};
struct stack_chains stack_chains_make(struct chains *chains, const struct stacks *stacks, chain_same_build *same_build,
                                      const void *context);
void stack_chains_free(struct stack_chains *stack_chains);

// The chain that a site with this stack is known by.
static inline uint32_t stack_chain(const struct stack_chains *stack_chains, uint32_t node) {
  return stack_chains->own[node] ? stack_chains->own[node] : stack_chains->all[node];
}

// A function's name without what compilers append to it, which changes from build to build: `.constprop.0` and the
// like, ` [clone .cold]`, Rust's `::h0123456789abcdef`. In new memory.
char *function_name_plain(const char *function);

#endif
