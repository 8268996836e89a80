/*
 * Two recordings, as typed arrays: links (a chain of functions is a link: its function is the innermost one, the
 * parent's the next one out) and sites, each with what both recordings say of it.
 */
const model = (() => {
  const KINDS = ["heap", "mmap", "python", "device", "pinned", "managed"];
  const CHANGES = ["new", "grown", "gone", "shrunk", ""];
  const FIGURES = [
    {id: "leaked", label: "Leaked", what: "bytes leaked", bytes: true},
    {id: "live", label: "Live", what: "bytes live at the end", bytes: true},
    {id: "peak", label: "Peak", what: "bytes at the peak", bytes: true},
    {id: "allocations", label: "Allocations", what: "allocations", bytes: false},
  ];

  const ints = (values) => Int32Array.from(values);

  /** Link 0 is the empty chain: the root. */
  function linksOf(columns, texts) {
    const count = columns.link_up.length + 1;
    const links = {
      count,
      parent: new Int32Array(count),
      name: new Int32Array(count),
      place: new Int32Array(count),
      firstChild: new Int32Array(count),
      nextSibling: new Int32Array(count),
    };
    for (let i = 1; i < count; i++) {
      links.parent[i] = i - columns.link_up[i - 1];
      links.name[i] = columns.link_name[i - 1];
      links.place[i] = columns.link_place[i - 1];
    }
    for (let i = count - 1; i > 0; i--) {
      links.nextSibling[i] = links.firstChild[links.parent[i]];
      links.firstChild[links.parent[i]] = i;
    }
    links.nameText = (link) => texts[links.name[link]] || "[unknown]";
    links.placeText = (link) => texts[links.place[link]];
    return links;
  }

  function sitesOf(columns, pairs) {
    const sites = {
      count: columns.site_chain.length,
      chain: ints(columns.site_chain),
      kind: ints(columns.site_kind),
      change: ints(columns.site_change),
      figure: ints(columns.site_figure),
      pair: new Int32Array(columns.site_chain.length),
      base: FIGURES.map(({id}) => columns[`base_${id}`]),
      now: FIGURES.map(({id}) => columns[`new_${id}`]),
    };
    let at = 0;
    pairs.forEach((pair, index) => {
      sites.pair.fill(index, at, at + pair.sites);
      at += pair.sites;
    });
    return sites;
  }

  function make({facts, texts, columns}) {
    return {
      facts,
      texts,
      links: linksOf(columns, texts),
      sites: sitesOf(columns, facts.pairs),
      /** The links of a chain, leaf first. */
      stackOf(chain, links) {
        const stack = [];
        for (; chain; chain = links.parent[chain]) stack.push(chain);
        return stack;
      },
    };
  }

  return {make, KINDS, CHANGES, FIGURES};
})();
