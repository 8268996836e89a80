/*
 * A box by its path: the groups from the root's child to it, which name it in the page's address. For both trees, that
 * of the flame page and that of the diff.
 */
const boxPath = (() => {
  function of (box) {
    const path = [];
    for (; box.parent; box = box.parent) path.unshift(box.group);
    return path;
  }

  /** The box at a path, or the last one on the way that is there. `childrenOf` is the tree's. */
  function find(root, path, childrenOf) {
    let box = root;
    for (const group of path) {
      const child = childrenOf(box).find((one) => one.group === group);
      if (!child) break;
      box = child;
    }
    return box;
  }

  return {of, find};
})();
