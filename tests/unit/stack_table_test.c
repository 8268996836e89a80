// sources: native/stack_table.c native/sys.c native/lock.c
// Nodes of the tree of stacks: one for each (parent, frame), however many children a node has and in whatever order
// they are asked for.
#include "../../native/modules.h"
#include "../../native/stack_table.h"
#include "expect.h"

#include <stdio.h>
#include <stdlib.h>

// What the table asks for when native frames are interned, which is not done here.
struct module *module_table;
uint32_t module_generation;
uint32_t module_of(uintptr_t pc) {
  (void)pc;
  return UINT32_MAX;
}

static void chain_is_shared(void) {
  uint32_t node = 0, again = 0;
  for (uint32_t frame = 10; frame < 74; frame++) node = node_intern_locked(node, frame);
  uint32_t count = node_count;
  for (uint32_t frame = 10; frame < 74; frame++) again = node_intern_locked(again, frame);
  EXPECT(node == again && node_count == count);
  for (uint32_t frame = 73; frame >= 10; frame--, node = node_table[node].parent)
    EXPECT(node_table[node].frame == frame);
  EXPECT(node == 0);
}

// `count` children, asked for again in another order.
static void children_are_found(uint32_t parent, uint32_t count) {
  uint32_t *children = calloc(count, sizeof *children);
  for (uint32_t i = 0; i < count; i++) children[i] = node_intern_locked(parent, 100 + i);
  uint32_t nodes = node_count;
  for (uint32_t i = count; i-- > 0;) {
    EXPECT(node_intern_locked(parent, 100 + i) == children[i]);
    EXPECT(node_table[children[i]].parent == parent && node_table[children[i]].frame == 100 + i);
  }
  EXPECT(node_count == nodes);
  free(children);
}

// A child that comes when many other nodes have come since the one before it.
static void late_children_are_found(void) {
  uint32_t parent = node_intern_locked(0, 3000000), leaf = node_intern_locked(parent, 1), children[12];
  for (uint32_t i = 0; i < 12; i++) {
    children[i] = node_intern_locked(parent, 10 + i);
    uint32_t other = node_intern_locked(0, 3000001 + i);
    for (uint32_t frame = 0; frame < (i % 3 == 1 ? 70000u : 60000u); frame++) other = node_intern_locked(other, 5);
  }
  uint32_t under_leaf = node_intern_locked(leaf, 7), count = node_count;
  EXPECT(node_intern_locked(parent, 1) == leaf && node_intern_locked(leaf, 7) == under_leaf);
  EXPECT(node_table[under_leaf].parent == leaf && node_table[under_leaf].frame == 7);
  for (uint32_t i = 0; i < 12; i++) {
    EXPECT(node_intern_locked(parent, 10 + i) == children[i]);
    EXPECT(node_table[children[i]].parent == parent && node_table[children[i]].frame == 10 + i);
  }
  EXPECT(node_count == count);
}

int main(void) {
  if (!stack_table_init()) return 2;
  chain_is_shared();
  for (uint32_t count = 1; count < 40; count++) children_are_found(node_intern_locked(0, 1000000 + count), count);
  children_are_found(0, 5000);
  uint32_t one = node_intern_locked(0, 2000000), other = node_intern_locked(0, 2000001);
  children_are_found(one, 3000);
  children_are_found(other, 3000);
  EXPECT(node_intern_locked(one, 2500) != node_intern_locked(other, 2500));
  late_children_are_found();
  return failures != 0;
}
