/*
 * The tree that a flame graph shows. A box stands for all nodes with its frame under its parent's box; boxes are made
 * when they are asked for, so that a tree of a million nodes costs no more than what is seen of it.
 */
const tree = (() => {
  const ROOT_GROUP = -1;

  /** What all boxes of a tree share: the data, the sums by node, and which frames are passed over. */
  function shapeOf(data, view, weights) {
    const {nodes, rows} = data;
    const groups = view.lines ? data.lineGroups : data.groups;
    const hidden = hiddenNodes(data, view);
    const byKind = kindWeights(data, weights);
    return {
      data,
      groups,
      hidden,
      fold: view.fold,
      inverted: view.inverted,
      weights,
      byKind,
      sums: figures.sumsOf(data, weights.values),
      blockSums: weights.blocks ? figures.sumsOf(data, weights.blocks) : null,
      kindSums: view.inverted ? null : byKind.map((values) => values && figures.sumsOf(data, values)),
      heavyRow: heavyRows(data, weights),
      groupOf: (node) => groups.of[nodes.frame[node]],
      rows,
      nodes,
    };
  }

  /** By node: 1 where it is passed over. A runtime's frame is shown all the same where it is a site. */
  function hiddenNodes(data, view) {
    const {frames, nodes} = data;
    const names = new Set(view.hidden);
    const splits = data.processes.length > 1 && view.byProcess;
    const NEVER = 1;
    const UNLESS_SITE = 2;
    const ofFrame = Uint8Array.from({length: frames.count}, (_, frame) => {
      if (frames.isProcess(frame)) return splits ? 0 : NEVER;
      if (names.size && names.has(frames.name(frame))) return NEVER;
      return !view.runtime && frames.isRuntime(frame) ? UNLESS_SITE : 0;
    });
    const hidden = new Uint8Array(nodes.count);
    for (let node = 1; node < nodes.count; node++) {
      const how = ofFrame[nodes.frame[node]];
      hidden[node] = how === NEVER || (how === UNLESS_SITE && !nodes.isSite[node]) ? 1 : 0;
    }
    return hidden;
  }

  /** What decides a box's colour beside its language: mmap, and memory of GPUs. Each null where there is none. */
  function kindWeights(data, weights) {
    const pick = (kinds) => {
      const values = new Float64Array(data.rows.count);
      let any = false;
      for (let row = 0; row < values.length; row++) {
        if (!weights.values[row] || !kinds.includes(model.KINDS[data.rows.kind[row]])) continue;
        values[row] = weights.values[row];
        any = true;
      }
      return any ? values : null;
    };
    return [pick(["mmap"]), pick(["device", "pinned", "managed"])];
  }

  /** By node, the heaviest row of its stacks whose holder is known, -1: none. */
  function heavyRows(data, weights) {
    const {nodes, rows} = data;
    const best = new Int32Array(nodes.count).fill(-1);
    const offer = (node, row) => {
      if (best[node] < 0 || weights.values[row] > weights.values[best[node]]) best[node] = row;
    };
    for (let row = 0; row < rows.recorded; row++)
      if (rows.heldBy[row] && weights.values[row]) offer(rows.node[row], row);
    for (let node = nodes.count - 1; node > 0; node--)
      if (best[node] >= 0) offer(nodes.parent[node], best[node]);
    return best;
  }

  function boxMake(shape, group, parent) {
    return {
      shape,
      group,
      parent,
      depth: parent ? parent.depth + 1 : 0,
      value: 0,
      self: 0,
      blocks: 0,
      mmap: 0,
      gpu: 0,
      nodes: [],
      rows: null,  // from the outside in: nodes; inverted: rows and how far out each one is
      children: null,
    };
  }

  // ---- from the outside in

  function nodeAdd(box, node) {
    const {sums, blockSums, kindSums} = box.shape;
    box.nodes.push(node);
    box.value += sums[node];
    if (blockSums) box.blocks += blockSums[node];
    if (kindSums[0]) box.mmap += kindSums[0][node];
    if (kindSums[1]) box.gpu += kindSums[1][node];
  }

  function outerExpand(box) {
    const {nodes, hidden, sums, fold, groupOf} = box.shape;
    const children = new Map();
    const open = [...box.nodes];
    while (open.length) {
      for (let node = nodes.firstChild[open.pop()]; node; node = nodes.nextSibling[node]) {
        if (!(sums[node] > 0)) continue;
        const group = groupOf(node);
        if (hidden[node] || (fold && group === box.group)) {
          open.push(node);
          continue;
        }
        if (!children.has(group)) children.set(group, boxMake(box.shape, group, box));
        nodeAdd(children.get(group), node);
      }
    }
    return children;
  }

  // ---- from the allocating function out

  function rowAdd(box, row, node) {
    const {weights, byKind} = box.shape;
    box.rows.push(row);
    box.nodes.push(node);
    box.value += weights.values[row];
    if (weights.blocks) box.blocks += weights.blocks[row];
    if (byKind[0]) box.mmap += byKind[0][row];
    if (byKind[1]) box.gpu += byKind[1][row];
  }

  /** The first node from `node` outwards that is shown, and is not `group` again when recursion is folded; 0: none. */
  function shownOutwards(shape, node, group) {
    while (node && (shape.hidden[node] || (shape.fold && shape.groupOf(node) === group)))
      node = shape.nodes.parent[node];
    return node;
  }

  function innerExpand(box) {
    const {shape} = box;
    const children = new Map();
    for (let i = 0; i < box.rows.length; i++) {
      const start = box.parent ? shape.nodes.parent[box.nodes[i]] : box.nodes[i];
      const node = shownOutwards(shape, start, box.group);
      if (!node) continue;
      const group = shape.groupOf(node);
      if (!children.has(group)) {
        children.set(group, boxMake(shape, group, box));
        children.get(group).rows = [];
      }
      rowAdd(children.get(group), box.rows[i], node);
    }
    return children;
  }

  // ---- whole

  /** A box's children, heaviest first. What they do not make up is the box's own. */
  function childrenOf(box) {
    if (box.children) return box.children;
    const children = [...(box.shape.inverted ? innerExpand(box) : outerExpand(box)).values()];
    children.sort((a, b) => b.value - a.value || a.group - b.group);
    box.children = children;
    box.self = Math.max(0, children.reduce((rest, child) => rest - child.value, box.value));
    return children;
  }

  function make(data, view, weights) {
    const shape = shapeOf(data, view, weights);
    const root = boxMake(shape, ROOT_GROUP, null);
    if (!view.inverted) {
      nodeAdd(root, 0);
      return root;
    }
    root.rows = [];
    for (let row = 0; row < data.rows.count; row++)
      if (weights.values[row] > 0) rowAdd(root, row, data.rows.node[row]);
    return root;
  }

  const pathOf = boxPath.of;
  const find = (root, path) => boxPath.find(root, path, childrenOf);

  const frameOf = (box) => (box.parent ? box.shape.groups.first[box.group] : -1);

  function nameOf(box) {
    return box.parent ? box.shape.data.frames.name(frameOf(box)) : "all";
  }

  /** "file.c:12", the file alone where the box stands for several lines, or "". */
  function placeOf(box) {
    if (!box.parent) return "";
    const file = box.shape.data.frames.fileText(frameOf(box));
    const line = box.shape.groups.line[box.group];
    return file && line ? `${file}:${line}` : file;
  }

  /** What colours a box: mmap and GPU where most of its bytes are of that kind, else its language. */
  function categoryOf(box) {
    const {frames} = box.shape.data;
    if (!box.parent) return "root";
    const frame = frameOf(box);
    if (box.gpu * 2 > box.value) return "gpu";
    if (box.mmap * 2 > box.value) return "mmap";
    if (frames.isRuntime(frame)) return "runtime";
    const language = frames.language(frame);
    return language === "none" ? "other" : language;
  }

  /** A box's stack, leaf first, without the process. Inverted, the box itself is outermost. */
  function stackOf(box) {
    const stack = [];
    for (let at = box; at.parent; at = at.parent)
      if (!at.shape.data.frames.isProcess(frameOf(at))) stack.push(at);
    return box.shape.inverted ? stack.reverse() : stack;
  }

  /** The heaviest row of a box whose holder is known, -1: none. */
  function heldRow(box) {
    const {heavyRow, weights} = box.shape;
    const rows =
      box.rows ? box.rows.filter((row) => box.shape.rows.heldBy[row]) : box.nodes.map((node) => heavyRow[node]);
    return rows.reduce(
      (best, row) => row >= 0 && (best < 0 || weights.values[row] > weights.values[best]) ? row : best, -1);
  }

  return {make, childrenOf, pathOf, find, frameOf, nameOf, placeOf, categoryOf, stackOf, heldRow};
})();
