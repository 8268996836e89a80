// trees DEPTH ROUNDS: builds and frees a complete binary tree, ROUNDS times. Left and right are built by calls from
// different places, so every node has a call stack of its own: 2^(DEPTH+1) - 1 of them.
#include <stdio.h>
#include <stdlib.h>

struct tree {
  struct tree *left, *right;
};

__attribute__((noinline)) static struct tree *tree_make(int depth) {
  struct tree *tree = malloc(sizeof *tree);
  tree->left = depth > 0 ? tree_make(depth - 1) : NULL;
  tree->right = depth > 0 ? tree_make(depth - 1) : NULL;
  return tree;
}

static unsigned tree_drop(struct tree *tree) {
  if (!tree) return 0;
  unsigned nodes = 1 + tree_drop(tree->left) + tree_drop(tree->right);
  free(tree);
  return nodes;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  int depth = atoi(argv[1]), rounds = atoi(argv[2]);
  unsigned nodes = 0;
  for (int round = 0; round < rounds; round++) nodes += tree_drop(tree_make(depth));
  printf("%u nodes\n", nodes);
  return 0;
}
