/*
 * The tree of the diff's flame graph. A box is as wide as the larger of what both recordings hold there, added up over
 * its sites: so what has vanished stays visible. With `changedOnly` it is as wide as what changed.
 */
const tree = (() => {
  function weightsOf(data, view) {
    const {sites} = data;
    const base = sites.base[view.figure];
    const now = sites.now[view.figure];
    const width = new Float64Array(sites.count);
    for (let site = 0; site < sites.count; site++) {
      if (view.pair !== null && sites.pair[site] !== view.pair) continue;
      width[site] = view.changedOnly ? Math.abs(now[site] - base[site]) : Math.max(base[site], now[site]);
    }
    return {width, base, now};
  }

  function boxMake(shape, link, parent) {
    return {
      shape,
      group: parent ? shape.data.links.name[link] : -1,
      label: parent ? shape.data.links.nameText(link) : "all",
      link,
      parent,
      depth: parent ? parent.depth + 1 : 0,
      value: 0,
      self: 0,
      base: 0,
      now: 0,
      places: [],  // inverted: [site, link] of each site below
      children: null,
    };
  }

  function siteAdd(box, site, link) {
    const {weights} = box.shape;
    box.value += weights.width[site];
    box.base += weights.base[site];
    box.now += weights.now[site];
    if (box.shape.inverted) box.places.push([site, link]);
  }

  /** By link: what its sites and those of what it calls make in all. */
  function sumsOf(data, weights) {
    const {links, sites} = data;
    const sums = {
      value: new Float64Array(links.count),
      base: new Float64Array(links.count),
      now: new Float64Array(links.count)
    };
    for (let site = 0; site < sites.count; site++) {
      if (!weights.width[site]) continue;
      sums.value[sites.chain[site]] += weights.width[site];
      sums.base[sites.chain[site]] += weights.base[site];
      sums.now[sites.chain[site]] += weights.now[site];
    }
    for (let link = links.count - 1; link > 0; link--)
      for (const figure of Object.values(sums)) figure[links.parent[link]] += figure[link];
    return sums;
  }

  function outerExpand(box) {
    const {data, sums} = box.shape;
    const children = [];
    for (let link = data.links.firstChild[box.link]; link; link = data.links.nextSibling[link]) {
      if (!(sums.value[link] > 0)) continue;
      const child = boxMake(box.shape, link, box);
      child.value = sums.value[link];
      child.base = sums.base[link];
      child.now = sums.now[link];
      children.push(child);
    }
    return children;
  }

  function innerExpand(box) {
    const {links} = box.shape.data;
    const children = new Map();
    for (const [site, from] of box.places) {
      const link = box.parent ? links.parent[from] : from;
      if (!link) continue;
      const name = links.name[link];
      if (!children.has(name)) children.set(name, boxMake(box.shape, link, box));
      siteAdd(children.get(name), site, link);
    }
    return [...children.values()];
  }

  function childrenOf(box) {
    if (box.children) return box.children;
    box.children = box.shape.inverted ? innerExpand(box) : outerExpand(box);
    box.children.sort((a, b) => b.value - a.value || a.group - b.group);
    box.self = Math.max(0, box.children.reduce((rest, child) => rest - child.value, box.value));
    return box.children;
  }

  /** `view`: {figure, pair: number or null, changedOnly, inverted}. */
  function make(data, view) {
    const weights = weightsOf(data, view);
    const shape = {data, weights, inverted: view.inverted, sums: view.inverted ? null : sumsOf(data, weights)};
    const root = boxMake(shape, 0, null);
    for (let site = 0; site < data.sites.count; site++)
      if (weights.width[site] > 0) siteAdd(root, site, data.sites.chain[site]);
    return root;
  }

  const pathOf = boxPath.of;
  const find = (root, path) => boxPath.find(root, path, childrenOf);

  const nameOf = (box) => (box.parent ? box.shape.data.links.nameText(box.link) : "all");
  const placeOf = (box) => (box.parent ? box.shape.data.links.placeText(box.link) : "");

  /** The boxes from one out to the root's child, leaf first. Inverted, the box itself is outermost. */
  function stackOf(box) {
    const stack = [];
    for (let at = box; at.parent; at = at.parent) stack.push(at);
    return box.shape.inverted ? stack.reverse() : stack;
  }

  /** The box of a site, null where it has no width in this view. */
  function boxOfSite(root, site) {
    const {data, weights, inverted} = root.shape;
    if (!(weights.width[site] > 0)) return null;
    const path = data.stackOf(data.sites.chain[site], data.links).map((link) => data.links.name[link]);
    return inverted ? find(root, path.slice(0, 1)) : find(root, path.reverse());
  }

  return {make, childrenOf, pathOf, find, nameOf, placeOf, stackOf, boxOfSite};
})();
