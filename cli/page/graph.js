/* The flame graph on the page: what the mouse and the keys do in it, zoom, pin, search, hiding. */
const graph = (() => {
  let data = null;
  let root = null;
  let rootKey = "";
  let plan = null;
  let zoom = null;
  let pin = null;
  let hover = null;
  let found = null;
  let foundKey = "";
  const place = () => dom.byId("flame-place");

  // ---- keeping up with the view

  const SHAPING = ["inverted", "runtime", "fold", "lines", "byProcess", "hidden"];

  function rootTake(state, weighed) {
    const key = weighed.key + JSON.stringify(SHAPING.map((name) => state[name]));
    if (key === rootKey) return;
    rootKey = key;
    root = tree.make(data, state, weighed.weights);
    hover = null;
  }

  function foundTake(state) {
    const {regex, error} = search.compile(state.search);
    const key = rootKey + state.search;
    if (key !== foundKey) found = regex ? search.run(data, root.shape, regex) : null;
    foundKey = key;
    resultShow(state, error);
  }

  function resultShow(state, error) {
    const result = dom.byId("search-result");
    result.classList.toggle("wrong", Boolean(error));
    result.textContent = error ? "not a regular expression" :
      found ? `${figures.textOf(root.shape.weights.mode, found.value)} · ${format.percent(found.value, root.value)}` :
              "";
    result.title = error || (found ? `${format.count(found.functions)} functions match` : "");
    result.dataset.value = found ? String(found.value) : "";
    const input = dom.byId("search");
    if (input.value !== state.search) input.value = state.search;
  }

  function boxAt(path) {
    const box = tree.find(root, path);
    return box.depth === path.length ? box : null;
  }

  /** `weighed`: {key, weights} of the view. */
  function show(state, weighed) {
    const zoomBefore = zoom && tree.pathOf(zoom).join();
    rootTake(state, weighed);
    zoom = tree.find(root, state.zoom);
    pin = state.pin ? boxAt(state.pin) : null;
    foundTake(state);
    emptyShow(state);
    crumbsShow(state);
    layout();
    if (zoomBefore !== tree.pathOf(zoom).join())
      place().scrollTop = state.upright ? place().scrollHeight : Math.max(0, (zoom.depth - 2) * flame.ROW);
    redraw();
    detailsShow();
  }

  function layout() {
    const width = Math.max(50, place().clientWidth);
    plan = flame.layout(zoom, width);
    const height = Math.max(plan.height, place().clientHeight);
    const spacer = dom.byId("flame-spacer");
    if (spacer.style.height !== `${height}px`) spacer.style.height = `${height}px`;
    // The bar that now may have come takes room.
    if (place().clientWidth !== width) plan = flame.layout(zoom, Math.max(50, place().clientWidth));
  }

  function marks() {
    return {found: found && found.matching, hover, pin, upright: view.get().upright};
  }

  function redraw() {
    const to = surface.canvas(dom.byId("flame"), plan.width, place().clientHeight);
    flame.draw(to, plan, place().scrollTop, marks());
  }

  function emptyShow(state) {
    const empty = dom.byId("flame-empty");
    empty.hidden = root.value > 0;
    const {mode} = root.shape.weights;
    const filtered =
      state.process !== null || state.rank !== null || figures.isBySite(state) || state.withoutKinds.length;
    empty.textContent = mode.id === "leaked" && !filtered ? "Nothing leaked." :
                                                            `No ${mode.what}${filtered ? " with these filters" : ""}.`;
  }

  function crumbsShow(state) {
    const crumbs = [];
    for (let box = zoom; box; box = box.parent) crumbs.unshift(box);
    const buttons = crumbs.flatMap(
      (box, i) =>
        [i ? dom.make("span", {"aria-hidden": true}, "›") : null,
         dom.make(
           "button", {type: "button", title: format.shortened(tree.nameOf(box), 400), onclick: () => zoomTo(box)},
           box.parent ? format.shortened(tree.nameOf(box), 60) :
                        `all ${figures.textOf(root.shape.weights.mode, root.value)}`)]);
    const hidden = state.hidden.map(
      (name) => dom.make(
        "button", {
          type: "button",
          title: "Show again",
          onclick: () => view.change({hidden: view.get().hidden.filter((one) => one !== name), zoom: [], pin: null})
        },
        `hidden: ${format.shortened(name, 30)} ✕`));
    const kept = state.only === null ?
      null :
      dom.make(
        "button",
        {type: "button", title: "All stacks again", onclick: () => view.change({only: null, zoom: [], pin: null})},
        `only: ${format.shortened(state.only, 30)} ✕`);
    const times = dom.make("span", {id: "range-times"});
    dom.byId("crumbs").replaceChildren(...[...buttons, times, kept, ...hidden].filter(Boolean));
    dom.byId("crumbs").dataset.value = String(root.value);
  }

  // ---- what can be done with a box

  function zoomTo(box) {
    view.change({zoom: tree.pathOf(box), pin: box.parent ? tree.pathOf(box) : null});
  }
  const zoomOut = () => zoom.parent && view.change({zoom: tree.pathOf(zoom.parent)});
  const pinTo = (box) => view.change({pin: box && box.parent ? tree.pathOf(box) : null}, true);

  function stackCopy(box) {
    const {frames} = data;
    const lines = tree.stackOf(box).map(
      (one) => [tree.nameOf(one),
                tree.placeOf(one) || (tree.frameOf(one) >= 0 ? frames.moduleText(tree.frameOf(one)) : "")]
                 .filter(Boolean)
                 .join("  "));
    dom.copy(lines.join("\n"), "stack");
  }

  function hide(box) {
    view.change({hidden: [...new Set([...view.get().hidden, tree.nameOf(box)])], zoom: [], pin: null});
  }

  /** Only what has the function in its stack counts, in every view. */
  const only = (box) => view.change({only: tree.nameOf(box), zoom: [], pin: null});

  const callers = (box) => view.change({focus: box.group, tab: "callers", sort: null});
  const suppress = (box) => suppression.show(data, tree.frameOf(box));
  const actions = {copy: stackCopy, suppress, callers, zoom: zoomTo, unpin: () => pinTo(null)};

  function menuOpen(box, x, y) {
    if (!box.parent) return;
    pinTo(box);
    menu.open(
      [
        {label: "Zoom to this", key: "z", action: () => zoomTo(box)},
        {label: "Zoom out", key: "o", action: zoomOut},
        {label: "Hide this function", key: "h", action: () => hide(box)},
        {label: "Only stacks with this function", key: "u", action: () => only(box)},
        {label: "Show callers and callees", key: "w", action: () => callers(box)},
        {
          label: "Search for this",
          key: "f",
          action: () => view.change({search: `^${tree.nameOf(box).replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`})
        },
        {label: "Copy stack", key: "c", action: () => stackCopy(box)},
        {label: "Suppress this…", key: "s", action: () => suppress(box)},
      ],
      x, y);
  }

  // ---- the mouse

  function underMouse(event) {
    const area = dom.byId("flame").getBoundingClientRect();
    const y = event.clientY - area.top + place().scrollTop;
    const total = Math.max(plan.height, view.get().upright ? place().clientHeight : 0);
    const depth = Math.floor((view.get().upright ? total - y : y) / flame.ROW);
    return flame.at(plan, depth, event.clientX - area.left);
  }

  function tipShow(event, what) {
    const tip = dom.byId("tip");
    tip.hidden = !what;
    if (!what) return;
    const {mode} = root.shape.weights;
    tip.textContent = what.box ?
      `${format.shortened(tree.nameOf(what.box), 220)} — ${figures.textOf(mode, what.box.value)} (${
        format.percent(what.box.value, root.value)})` :
      restText(what.rest, mode);
    const {width, height} = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 6))}px`;
    tip.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18}px`;
  }

  function restText({parent, from}, mode) {
    const rest = tree.childrenOf(parent).slice(from);
    const value = rest.reduce((sum, box) => sum + box.value, 0);
    return `${format.count(rest.length)} narrow boxes — ${figures.textOf(mode, value)} (${
      format.percent(value, root.value)})`;
  }

  function hoverTake(event) {
    const what = underMouse(event);
    tipShow(event, what);
    const box = what && what.box ? what.box : null;
    if (box === hover) return;
    hover = box;
    redraw();
    detailsShow();
  }

  function hoverEnd() {
    dom.byId("tip").hidden = true;
    if (!hover) return;
    hover = null;
    redraw();
    detailsShow();
  }

  /** The pinned box stays in the details until it is unpinned; what is under the mouse has the tip. */
  function detailsShow() {
    const box = pin || hover;
    details.show(dom.byId("details"), box, {root, zoom, pinned: Boolean(pin), actions});
  }

  // ---- keys, while the graph has the focus

  function neighbour(key) {
    const from = pin && flame.placeOf(plan, pin) ? pin : zoom;
    const outwards = view.get().upright ? "ArrowDown" : "ArrowUp";
    if (key === outwards) return from.parent;
    if (key === "ArrowUp" || key === "ArrowDown") return tree.childrenOf(from)[0];
    const row = plan.rows[from.depth];
    return row.boxes[row.boxes.indexOf(from) + (key === "ArrowRight" ? 1 : -1)];
  }

  function keyTake(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow")) {
      const next = neighbour(event.key);
      if (next && next.parent)
        pinTo(next);
      else if (next)
        pinTo(null);
      intoSight();
    } else if (event.key === "ContextMenu" || (event.shiftKey && event.key === "F10"))
      menuByKey();
    else
      return;
    event.preventDefault();
  }

  function yOf(depth) {
    const total = Math.max(plan.height, place().clientHeight);
    return view.get().upright ? total - (depth + 1) * flame.ROW : depth * flame.ROW;
  }

  function intoSight() {
    if (!pin) return;
    const y = yOf(pin.depth);
    if (y < place().scrollTop) place().scrollTop = y;
    if (y + flame.ROW > place().scrollTop + place().clientHeight)
      place().scrollTop = y + flame.ROW - place().clientHeight;
  }

  /** A box's left upper corner in the window. */
  function cornerOf(box) {
    const spot = flame.placeOf(plan, box);
    const area = dom.byId("flame").getBoundingClientRect();
    return [area.left + (spot ? spot.x : 0), area.top + yOf(box.depth) - place().scrollTop];
  }

  function menuByKey() {
    if (!pin) return;
    const [x, y] = cornerOf(pin);
    menuOpen(pin, x + 12, y + flame.ROW);
  }

  /** A point in the first box of that name from the root on, null: none is drawn. */
  function placeOfName(name) {
    const box = plan.rows.flatMap((row) => row.boxes).find((one) => tree.nameOf(one) === name);
    if (!box) return null;
    const [x, y] = cornerOf(box);
    return [x + flame.placeOf(plan, box).w / 2, y + flame.ROW / 2];
  }

  // ---- rows of tables

  /** The box of a row's site, null where the row has no weight in this view. */
  function boxOfRow(row) {
    const {shape} = root;
    if (!(shape.weights.values[row] > 0)) return null;
    const path = [];
    const {nodes, hidden} = shape;
    for (let node = data.rows.node[row]; node; node = nodes.parent[node]) {
      if (hidden[node]) continue;
      const group = shape.groupOf(node);
      if (shape.fold && path[path.length - 1] === group) continue;
      path.push(group);
    }
    return shape.inverted ? tree.find(root, path.slice(0, 1)) : tree.find(root, path.reverse());
  }

  function rowChoose(row) {
    const box = boxOfRow(row);
    if (box)
      pinTo(box);
    else
      dom.say("this site has no weight in what the graph shows now");
    return box;
  }

  function rowEnter(row) {
    const box = rowChoose(row);
    if (box) zoomTo(box);
  }

  function rowMenu(row, x, y) {
    const box = rowChoose(row);
    if (box) menuOpen(box, x, y);
  }

  // ---- whole

  function start(own) {
    data = own;
    const flamePlace = place();
    const canvas = dom.byId("flame");
    canvas.addEventListener("pointermove", hoverTake);
    canvas.addEventListener("pointerleave", hoverEnd);
    canvas.addEventListener("click", (event) => {
      const what = underMouse(event);
      if (what && what.box)
        (event.shiftKey ? pinTo : zoomTo)(what.box);
      else if (what)
        zoomTo(what.rest.parent);
      else
        pinTo(null);
    });
    canvas.addEventListener("contextmenu", (event) => {
      const what = underMouse(event);
      event.preventDefault();
      if (what && what.box) menuOpen(what.box, event.clientX, event.clientY);
    });
    flamePlace.addEventListener("scroll", () => plan && redraw(), {passive: true});
    flamePlace.addEventListener("keydown", keyTake);
  }

  /** The whole graph as a chart to save: all its rows, not only those in sight. */
  function chart() {
    const {mode} = root.shape.weights;
    return {
      name: `heaptide-${mode.id}`,
      title: `${mode.label}: ${mode.what} — ${figures.textOf(mode, root.value)}`,
      width: plan.width,
      height: plan.height,
      draw: (to) => flame.draw(to, plan, 0, {...marks(), hover: null}),
    };
  }

  return {
    start,
    show,
    redraw,
    chart,
    zoomOut,
    rowChoose,
    rowEnter,
    rowMenu,
    menuByKey,
    placeOfName,
    /** Whether a row's stack is the pinned one. */
    isPinned: (row) => pin !== null && boxOfRow(row) === pin,
    isFound: (row) => Boolean(found && found.hits[data.rows.node[row]]),
    /** What keys act on: the pinned box, else the one under the mouse. */
    box: () => pin || hover,
    actions: {...actions, hide, only},
    root: () => root,
    layoutAndDraw: () => {
      layout();
      redraw();
    },
  };
})();
