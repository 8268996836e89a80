/* What is under the mouse or pinned: site, bytes, blocks, share, who holds it, the stack. */
const details = (() => {
  const make = dom.make;

  function figure(label, value) {
    return make("div", {class: "figure"}, make("span", {class: "figure-label"}, label), make("b", {}, value));
  }

  function figuresOf(box, root, zoom) {
    const {weights} = box.shape;
    const mode = weights.mode;
    tree.childrenOf(box);
    const list =
      [figure(mode.label, figures.textOf(mode, box.value)), figure("of all", format.percent(box.value, root.value))];
    if (zoom !== root) list.push(figure("of zoomed", format.percent(box.value, zoom.value)));
    if (box.self > 0 && box.self < box.value) list.push(figure("its own", figures.textOf(mode, box.self)));
    if (weights.blocks) list.push(figure(mode.id === "allocated" ? "allocations" : "blocks", format.count(box.blocks)));
    return list;
  }

  function placeLine(box) {
    const {frames} = box.shape.data;
    const frame = tree.frameOf(box);
    if (frame < 0) return "";
    const language = frames.language(frame);
    return [tree.placeOf(box), frames.moduleText(frame), language === "none" ? "" : language].filter(Boolean).join(
      "  ·  ");
  }

  function stackList(box) {
    const {frames} = box.shape.data;
    return make("ol", {class: "stack"}, ...tree.stackOf(box).map((one) => {
      const frame = tree.frameOf(one);
      const name = make("span", {class: frames.isRuntime(frame) ? "dim" : ""}, format.shortened(tree.nameOf(one), 400));
      return make(
        "li", {class: one === box ? "own" : ""}, name,
        make("span", {class: "where"}, format.fileName(tree.placeOf(one))));
    }));
  }

  const line = (label, text) => make("p", {class: "held"}, make("span", {class: "figure-label"}, `${label} `), text);

  /** Of the box's heaviest site whose holder is known: who holds it, and of what types its Python objects are. */
  function heldLines(box) {
    const row = tree.heldRow(box);
    if (row < 0) return [];
    const {heldBy, types} = box.shape.rows;
    const held = line("held by", heldBy[row].join("  «  "));
    return types[row] ? [held, line("of type", format.types(types[row]))] : [held];
  }

  function button(label, key, action) {
    return make("button", {type: "button", title: key ? `${label} (${key})` : label, onclick: action}, label);
  }

  /** `actions`: {copy, suppress, callers, zoom, unpin}, each called with the box. */
  function show(place, box, {root, zoom, pinned, actions}) {
    place.replaceChildren();
    if (!box) {
      place.append(
        make("p", {class: "hint"}, "Point at a box to see what it holds; click to zoom; press ? for the keys."));
      return;
    }
    place.append(
      make(
        "div", {class: "details-head"}, make("h2", {}, format.shortened(tree.nameOf(box), 1500)),
        pinned ? button("Unpin", "Escape", () => actions.unpin(box)) : make("span", {class: "badge"}, "hover")),
      make("p", {class: "where"}, placeLine(box)), make("div", {class: "figures"}, ...figuresOf(box, root, zoom)));
    place.append(...heldLines(box));
    if (pinned && box.parent)
      place.append(make(
        "div", {class: "actions"}, button("Zoom", "Enter", () => actions.zoom(box)),
        button("Copy stack", "c", () => actions.copy(box)), button("Callers", "w", () => actions.callers(box)),
        button("Suppress…", "s", () => actions.suppress(box))));
    if (box.parent) place.append(stackList(box));
  }

  return {show};
})();
