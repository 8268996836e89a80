/* Beside the graph: what has changed, one line a site, and what both recordings say of the chosen box. */
const side = (() => {
  const make = dom.make;

  const textOf = (figure, value) =>
    (model.FIGURES[figure].bytes ? format.bytes(value) : `${value < 0 ? "−" : ""}${format.count(Math.abs(value))}`);
  const differenceText = (figure, value) => (value > 0 ? "+" : "") + textOf(figure, value);
  const classOf = (difference) => (difference > 0 ? "added" : difference < 0 ? "gone" : "");

  // ---- tiles

  function tile(label, figure, base, now) {
    const difference = now - base;
    return make(
      "div", {class: "panel tile"}, make("span", {}, label),
      make("b", {class: classOf(difference)}, difference ? differenceText(figure, difference) : "no change"),
      make("small", {}, `${textOf(figure, base)} → ${textOf(figure, now)}`));
  }

  function tilesShow(data, state) {
    const pairs = data.facts.pairs.filter((_, index) => state.pair === null || state.pair === index);
    const sum = (part, id) => pairs.reduce((total, pair) => total + (pair[part] ? pair[part][id] : 0), 0);
    dom.byId("tiles").replaceChildren(
      ...model.FIGURES.map(({id, label}, figure) => tile(label, figure, sum("base", id), sum("new", id))));
  }

  // ---- changes

  /** The sites that changed, as `heaptide diff` lists them: new, grown, gone, shrunk. */
  function changesOf(data, state) {
    const {sites} = data;
    const found = [];
    for (let site = 0; site < sites.count; site++) {
      if (!model.CHANGES[sites.change[site]] || (state.pair !== null && sites.pair[site] !== state.pair)) continue;
      const figure = sites.figure[site];
      found.push(
        {site, figure, change: sites.change[site], difference: sites.now[figure][site] - sites.base[figure][site]});
    }
    return found.sort(
      (a, b) => a.change - b.change || a.figure - b.figure || Math.abs(b.difference) - Math.abs(a.difference));
  }

  function changeLine(data, one, chosen, choose) {
    const {links, sites} = data;
    const [leaf, ...callers] = data.stackOf(sites.chain[one.site], links);
    const callersText = callers.slice(0, 3).map((link) => links.nameText(link)).join(" ‹ ");
    const word = model.CHANGES[one.change];
    const names = [links.nameText(leaf || 0), links.placeText(leaf || 0)].filter(Boolean).join("  ");
    return make(
      "button", {
        type: "button",
        class: "change",
        role: "option",
        "data-site": one.site,
        "data-change": word,
        "aria-selected": String(chosen === one.site),
        onclick: () => choose(one)
      },
      make("span", {class: `badge-change ${classOf(one.difference)}`}, word.toUpperCase()),
      make("b", {class: classOf(one.difference)}, differenceText(one.figure, one.difference)),
      make("span", {class: "site", title: format.shortened(names, 1000)}, format.shortened(names, 200)),
      make(
        "span", {class: "more"},
        `${model.FIGURES[one.figure].label.toLowerCase()} ${model.KINDS[sites.kind[one.site]]}${
          callersText ? `  ‹ ${format.shortened(callersText, 200)}` : ""}`));
  }

  const LINES_MAX = 2000;  // more lines than that nobody reads, and the browser would be slow

  function changesShow(data, state, chosen, choose) {
    const changes = changesOf(data, state);
    dom.byId("changes").replaceChildren(
      ...changes.slice(0, LINES_MAX).map((one) => changeLine(data, one, chosen, choose)));
  }

  // ---- details

  function figureOf(label, value) {
    return make("div", {class: "figure"}, make("span", {class: "figure-label"}, label), make("b", {}, value));
  }

  function detailsShow(box, root, figure, copy) {
    const place = dom.byId("details");
    place.replaceChildren();
    if (!box) {
      place.append(
        make("p", {class: "hint"}, "Point at a box to see both recordings; click to zoom; press ? for keys."));
      return;
    }
    const difference = box.now - box.base;
    place.append(
      make(
        "div", {class: "details-head"}, make("h2", {}, format.shortened(tree.nameOf(box), 1500)),
        make("button", {type: "button", onclick: copy, title: "Copy stack (c)"}, "Copy stack")),
      make("p", {class: "where"}, tree.placeOf(box)),
      make(
        "div", {class: "figures"}, figureOf("base", textOf(figure, box.base)), figureOf("new", textOf(figure, box.now)),
        figureOf("change", difference ? differenceText(figure, difference) : "none"),
        figureOf("of all", format.percent(box.value, root.value))),
      make(
        "ol", {class: "stack"},
        ...tree.stackOf(box).map(
          (one) => make(
            "li", {class: one === box ? "own" : ""}, make("span", {}, format.shortened(tree.nameOf(one), 400)),
            make("span", {class: "where"}, tree.placeOf(one))))));
  }

  return {tilesShow, changesOf, changesShow, detailsShow, textOf, differenceText};
})();
