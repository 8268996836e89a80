// A lost tree of 15 nodes: its root is direct.
// expect direct 48 in 1 at @root
// expect indirect 672 in 14 at @node
#include "planted.h"

struct tree {
  struct tree *left, *right;
  char text[32];
};

static void tree_grow(struct tree *tree, int depth) {
  tree->left = tree->right = NULL;
  if (depth == 0) return;
  tree->left = malloc(sizeof *tree), tree->right = malloc(sizeof *tree); // @node
  tree_grow(tree->left, depth - 1);
  tree_grow(tree->right, depth - 1);
}

static __attribute__((noinline)) void tree_lose(void) {
  struct tree *root = malloc(sizeof *root); // @root
  tree_grow(root, 3);
}

int main(void) {
  tree_lose();
  stack_scrub();
  return 0;
}
