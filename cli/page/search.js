/* Search by regular expression in functions, files and modules. */
const search = (() => {
  /** {regex: null where nothing is sought or the expression is wrong, error} */
  function compile(text) {
    if (!text) return {regex: null, error: ""};
    try {
      return {regex: new RegExp(text, "i"), error: ""};
    } catch (error) {
      return {regex: null, error: String(error.message)};
    }
  }

  /** By group: 1 where it matches. */
  function groupsMatching(data, groups, regex) {
    const {frames} = data;
    const known = new Map();
    const test = (text) => {
      if (!known.has(text)) known.set(text, regex.test(text));
      return known.get(text);
    };
    return Uint8Array.from({length: groups.count}, (_, group) => {
      const frame = groups.first[group];
      return test(frames.name(frame)) || test(frames.fileText(frame)) || test(frames.moduleText(frame)) ? 1 : 0;
    });
  }

  /** By node: 1 where a shown frame of its stack matches. */
  function nodesMatching(shape, matching) {
    const {nodes, hidden} = shape;
    const hits = new Uint8Array(nodes.count);
    for (let node = 1; node < nodes.count; node++)
      hits[node] = hits[nodes.parent[node]] || (!hidden[node] && matching[shape.groupOf(node)]) ? 1 : 0;
    return hits;
  }

  /** {matching by group, hits by node, value: weights under matches, functions: how many} */
  function run(data, shape, regex) {
    const matching = groupsMatching(data, shape.groups, regex);
    const hits = nodesMatching(shape, matching);
    let value = 0;
    shape.weights.values.forEach((weight, row) => {
      if (weight > 0 && hits[data.rows.node[row]]) value += weight;
    });
    return {matching, hits, value, functions: matching.reduce((sum, one) => sum + one, 0)};
  }

  return {compile, run};
})();
