/* Puts the diff's page together: reads the data, follows the view, wires the mouse, buttons and keys. */
const page = (() => {
  let data = null;
  let root = null;
  let rootKey = "";
  let plan = null;
  let zoom = null;
  let pin = null;
  let hover = null;
  let found = null;
  const place = () => dom.byId("flame-place");

  // ---- the graph

  function rootTake(state) {
    const key = JSON.stringify([state.figure, state.pair, state.changedOnly, state.inverted]);
    if (key === rootKey) return;
    rootKey = key;
    root = tree.make(data, state);
    hover = null;
  }

  function boxAt(path) {
    const box = path && tree.find(root, path);
    return box && box.depth === path.length ? box : null;
  }

  function foundTake(state) {
    const result = dom.byId("search-result");
    const input = dom.byId("search");
    if (input.value !== state.search) input.value = state.search;
    result.classList.remove("wrong");
    result.textContent = "";
    found = null;
    if (!state.search) return;
    try {
      const regex = new RegExp(state.search, "i");
      found = Uint8Array.from(data.texts, (text) => (regex.test(text) ? 1 : 0));
    } catch {
      result.classList.add("wrong");
      result.textContent = "not a regular expression";
      return;
    }
    const value = foundValue();
    result.textContent = `${side.textOf(state.figure, value)} · ${format.percent(value, root.value)}`;
  }

  /** What lies in boxes whose function, or that of a box around them, matches. */
  function foundValue() {
    const {links, sites} = data;
    const hits = new Uint8Array(links.count);
    for (let link = 1; link < links.count; link++) hits[link] = hits[links.parent[link]] || found[links.name[link]];
    let value = 0;
    root.shape.weights.width.forEach((width, site) => (value += hits[sites.chain[site]] ? width : 0));
    return value;
  }

  function layout() {
    plan = flame.layout(zoom, Math.max(50, place().clientWidth));
    dom.byId("flame-spacer").style.height = `${Math.max(plan.height, place().clientHeight)}px`;
    if (place().clientWidth !== plan.width) plan = flame.layout(zoom, Math.max(50, place().clientWidth));
  }

  const marks = () => ({found, hover, pin, upright: false, colorOf: diffColor.of});

  function redraw() {
    flame.draw(surface.canvas(dom.byId("flame"), plan.width, place().clientHeight), plan, place().scrollTop, marks());
  }

  function detailsShow() {
    const box = pin || hover;
    side.detailsShow(box, root, view.get().figure, () => stackCopy(box));
  }

  function crumbsShow(state) {
    const crumbs = [];
    for (let box = zoom; box; box = box.parent) crumbs.unshift(box);
    dom.byId("crumbs").replaceChildren(...crumbs.map(
      (box) => dom.make(
        "button", {type: "button", onclick: () => zoomTo(box)},
        box.parent ? `› ${format.shortened(tree.nameOf(box), 60)}` : `all ${side.textOf(state.figure, box.value)}`)));
    dom.byId("flame-empty").hidden = root.value > 0;
    dom.byId("flame-empty").textContent =
      state.changedOnly ? "Nothing changed here." : `No ${model.FIGURES[state.figure].what} in either recording.`;
  }

  // ---- what can be done with a box

  const zoomTo = (box) => view.change({zoom: tree.pathOf(box), pin: box.parent ? tree.pathOf(box) : null});
  const zoomOut = () => zoom.parent && view.change({zoom: tree.pathOf(zoom.parent)});
  const pinTo = (box) => view.change({pin: box && box.parent ? tree.pathOf(box) : null}, true);

  function stackCopy(box) {
    if (!box) return;
    const lines = tree.stackOf(box).map((one) => [tree.nameOf(one), tree.placeOf(one)].filter(Boolean).join("  "));
    dom.copy(lines.join("\n"), "stack");
  }

  /** A line of the list: its figure is shown, and its box in it. */
  function changeChoose(one) {
    const state = view.get();
    const chosen = {...state, figure: one.figure};
    rootTake(chosen);
    const box = tree.boxOfSite(root, one.site);
    view.change({figure: one.figure, zoom: [], pin: box ? tree.pathOf(box) : null});
  }

  // ---- controls

  const TOGGLES = [
    {part: "changedOnly", key: "c", label: "Changed only", what: "As wide as what changed; the rest is left out"},
    {part: "inverted", key: "v", label: "Inverted", what: "The allocating function at the root, its callers on top"},
  ];
  const toggle = ({part}) => view.change({[part]: !view.get()[part], zoom: [], pin: null});

  function segmentsShow(state) {
    dom.byId("figures").replaceChildren(...model.FIGURES.map(
      ({id, label, what}, figure) => dom.make(
        "button", {
          type: "button",
          "data-figure": id,
          "aria-pressed": String(figure === state.figure),
          title: `${what} (${figure + 1})`,
          onclick: () => view.change({figure, zoom: [], pin: null})
        },
        label)));
    dom.byId("toggles").replaceChildren(...TOGGLES.map(
      (one) => dom.make(
        "button", {
          type: "button",
          "data-part": one.part,
          "aria-pressed": String(state[one.part]),
          title: `${one.what} (${one.key})`,
          onclick: () => toggle(one)
        },
        one.label)));
  }

  /** Marks have a list where there are any. */
  function listsShow(state) {
    const changes = side.changesOf(data, state).length;
    const marks = diffMarks.marksOf(data, state).length;
    const lists = {
      changes: changes ? format.counted(changes, "changed site") : "No site has changed",
      ...(marks ? {marks: format.counted(marks, "mark")} : {})
    };
    diffMarks.show(data, state);
    diffMarks.tabsShow(lists, lists[state.list] ? state.list : "changes", (list) => view.change({list}));
  }

  const listNext = () => view.change({list: view.get().list === "marks" ? "changes" : "marks"});

  const NEXT_THEME = {auto: "light", light: "dark", dark: "auto"};
  const themeNext = () => view.change({theme: NEXT_THEME[view.get().theme]}, true);

  function legendShow() {
    const shown = [
      ["new", {base: 0, now: 1}], ["more", {base: 2, now: 3}], ["as before", {base: 1, now: 1}],
      ["less", {base: 3, now: 2}], ["gone", {base: 1, now: 0}]
    ];
    dom.byId("legend").replaceChildren(...shown.map(([label, box]) => {
      const mark = dom.make("i", {class: "swatch"});
      mark.style.background = diffColor.of(box);
      return dom.make("span", {}, mark, label);
    }));
  }

  function notesShow() {
    const notes = data.facts.pairs.flatMap((pair) => pair.notes.map((note) => `${pair.name}: ${note}`));
    menu.dialog("Notes", dom.make("ul", {class: "notes"}, ...(notes.length ? notes : [
                                                            "Nothing to note."
                                                          ]).map((note) => dom.make("li", {}, note))));
  }

  const KEYS = [
    ["1 – 4", "leaked, live, peak, allocations"],
    ["c", "changed only"],
    ["C", "copy the box's stack"],
    ["v", "inverted"],
    ["/", "search"],
    ["Arrows", "move between boxes"],
    ["Enter, z", "zoom to the box"],
    ["o, Backspace", "zoom out"],
    ["Escape", "unpin, then the whole graph"],
    ["t", "changed sites, marks"],
    ["n", "notes"],
    ["e", "export"],
    ["d", "light, dark, as the system"],
    ["?", "this list"],
  ];

  function helpShow() {
    menu.dialog(
      "Keys",
      dom.make(
        "div", {class: "keys"},
        ...KEYS.map(([key, what]) => dom.make("div", {}, dom.make("span", {}, what), dom.make("kbd", {}, key)))));
  }

  // ---- export

  function chart() {
    const {what, id} = model.FIGURES[view.get().figure];
    return {
      name: `heaptide-diff-${id}`,
      title: `${data.facts.base} → ${data.facts.new}: ${what}`,
      width: plan.width,
      height: plan.height,
      draw: (to) => flame.draw(to, plan, 0, {...marks(), hover: null}),
    };
  }

  function exportOpen() {
    const {left, bottom} = dom.byId("export").getBoundingClientRect();
    const state = view.get();
    menu.open(
      [
        {label: "Graph as PNG", key: "p", action: () => output.chartSave(chart(), "png")},
        {label: "Graph as SVG", key: "s", action: () => output.chartSave(chart(), "svg")},
        {
          label: "Changes as CSV",
          key: "c",
          action: () => output.linesSave(diffCsv.changes(data, state), "heaptide-diff")
        },
        {label: "Marks as CSV", key: "m", action: () => output.linesSave(diffCsv.marks(data, state), "heaptide-marks")},
      ],
      left, bottom + 4);
  }

  // ---- the mouse

  function underMouse(event) {
    const area = dom.byId("flame").getBoundingClientRect();
    const depth = Math.floor((event.clientY - area.top + place().scrollTop) / flame.ROW);
    return flame.at(plan, depth, event.clientX - area.left);
  }

  function tipShow(event, box) {
    const tip = dom.byId("tip");
    tip.hidden = !box;
    if (!box) return;
    const {figure} = view.get();
    tip.textContent =
      `${format.shortened(tree.nameOf(box), 220)} — ${side.textOf(figure, box.base)} → ${side.textOf(figure, box.now)}`;
    const {width, height} = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 6))}px`;
    tip.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18}px`;
  }

  function hoverTake(event) {
    const what = event.type === "pointerleave" ? null : underMouse(event);
    const box = what && what.box ? what.box : null;
    tipShow(event, box);
    if (box === hover) return;
    hover = box;
    redraw();
    detailsShow();
  }

  function mouseStart() {
    const canvas = dom.byId("flame");
    canvas.addEventListener("pointermove", hoverTake);
    canvas.addEventListener("pointerleave", hoverTake);
    canvas.addEventListener("click", (event) => {
      const what = underMouse(event);
      if (what)
        (event.shiftKey && what.box ? pinTo : zoomTo)(what.box || what.rest.parent);
      else
        pinTo(null);
    });
    place().addEventListener("scroll", redraw, {passive: true});
  }

  // ---- keys

  function neighbour(key) {
    const from = pin && flame.placeOf(plan, pin) ? pin : zoom;
    if (key === "ArrowUp") return from.parent;
    if (key === "ArrowDown") return tree.childrenOf(from)[0];
    const row = plan.rows[from.depth];
    return row.boxes[row.boxes.indexOf(from) + (key === "ArrowRight" ? 1 : -1)];
  }

  function escape() {
    if (pin)
      pinTo(null);
    else if (zoom !== root)
      view.change({zoom: []});
    else
      view.change({search: ""});
  }

  const ACTIONS = {
    "/": () => dom.byId("search").focus(),
    c: () => toggle(TOGGLES[0]),
    C: () => stackCopy(pin || hover),
    v: () => toggle(TOGGLES[1]),
    z: () => pin && zoomTo(pin),
    Enter: () => pin && zoomTo(pin),
    o: zoomOut,
    Backspace: zoomOut,
    Escape: escape,
    t: listNext,
    n: notesShow,
    e: exportOpen,
    d: themeNext,
    "?": helpShow,
  };

  function keyTake(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.matches("input, select, textarea")) {
      if (event.key === "Escape" || event.key === "Enter") place().focus();
      return;
    }
    const onButton = event.target.matches("button") && event.key === "Enter";
    if (onButton) return;
    const next = event.key.startsWith("Arrow") ? neighbour(event.key) : null;
    if (next)
      pinTo(next);
    else if (/^[1-4]$/.test(event.key))
      view.change({figure: Number(event.key) - 1, zoom: [], pin: null});
    else if (ACTIONS[event.key])
      ACTIONS[event.key]();
    else
      return;
    event.preventDefault();
  }

  // ---- whole

  function show() {
    const state = view.get();
    theme.use(state.theme);
    dom.byId("theme").textContent = {auto: "Auto", light: "Light", dark: "Dark"}[state.theme];
    rootTake(state);
    zoom = tree.find(root, state.zoom);
    pin = boxAt(state.pin);
    foundTake(state);
    segmentsShow(state);
    legendShow();
    crumbsShow(state);
    side.tilesShow(data, state);
    side.changesShow(data, state, chosenSite(), changeChoose);
    listsShow(state);
    dom.byId("pair").value = state.pair === null ? "" : String(state.pair);
    layout();
    redraw();
    detailsShow();
  }

  /** The changed site whose box is pinned. */
  function chosenSite() {
    if (!pin || pin.shape.inverted) return null;
    const one = side.changesOf(data, view.get()).find(({site}) => data.sites.chain[site] === pin.link);
    return one ? one.site : null;
  }

  function headShow() {
    const {pairs, base, new: now} = data.facts;
    dom.byId("run-name").textContent = `${base} → ${now}`;
    dom.byId("run-facts").textContent = pairs.length === 1 ? pairs[0].name : `${pairs.length} processes`;
    dom.byId("pair-label").hidden = pairs.length < 2;
    dom.byId("pair").replaceChildren(
      dom.make("option", {value: ""}, "all"),
      ...pairs.map(
        (pair, index) => dom.make(
          "option", {value: index},
          `${pair.name} ${pair.base ? pair.base.pid : "new"} → ${pair.new ? pair.new.pid : "gone"}`)));
    const notes = pairs.reduce((count, pair) => count + pair.notes.length, 0);
    dom.byId("note-count").textContent = notes ? String(notes) : "";
    document.title = `heaptide diff ${base} ${now}`;
  }

  /** What is shown first: the first figure in which a site changed. */
  function figureFirst() {
    const {sites} = data;
    let first = model.FIGURES.length;
    for (let site = 0; site < sites.count; site++)
      if (model.CHANGES[sites.change[site]]) first = Math.min(first, sites.figure[site]);
    return first < model.FIGURES.length ? first : 1;
  }

  async function start() {
    data = model.make(await payload.read());
    dom.byId("loading").remove();
    headShow();
    menu.start();
    mouseStart();
    dom.byId("search").addEventListener("input", (event) => view.change({search: event.target.value}, true));
    dom.byId("pair").addEventListener(
      "change",
      (event) =>
        view.change({pair: event.target.value === "" ? null : Number(event.target.value), zoom: [], pin: null}));
    for (const [id, action] of [["notes", notesShow], ["export", exportOpen], ["theme", themeNext], ["help", helpShow]])
      dom.byId(id).addEventListener("click", action);
    document.addEventListener("keydown", keyTake);
    window.addEventListener("resize", () => {
      layout();
      redraw();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
    view.start({figure: figureFirst()}, () => dom.keepingFocus(show));
    show();
    place().focus({preventScroll: true});
    window.heaptidePage = {view, root: () => root, tree, data, theme, colorOf: diffColor.of};
    document.documentElement.dataset.ready = "";
  }

  return {start};
})();

page.start();
