/* The flame graph: boxes laid out by weight, drawn where they are over a pixel, found under the mouse again. */
const flame = (() => {
  const ROW = 19;
  const LEAST = 1;  // pixels; narrower boxes are drawn as one
  const LABEL_LEAST = 26;
  const LABEL_LIMIT = 300;  // characters that can be seen of a name
  const PAD = 4;
  const WIDTHS_KEPT = 20000;

  /**
   * Where every box that can be seen is: rows from the root outwards, each {boxes, x, w, rest}, sorted by x. `rest` are
   * places of children too narrow to be drawn: {x, w, parent, from}.
   */
  function layout(zoom, width) {
    const rows = [];
    const rowAt = (depth) => (rows[depth] ||= {boxes: [], x: [], w: [], rest: []});
    const put = (depth, box, x, w) => {
      const row = rowAt(depth);
      row.boxes.push(box);
      row.x.push(x);
      row.w.push(w);
    };
    for (let box = zoom; box; box = box.parent) put(box.depth, box, 0, width);
    const scale = zoom.value > 0 ? width / zoom.value : 0;
    let level = [[zoom, 0]];
    for (let depth = zoom.depth + 1; level.length; depth++) {
      const next = [];
      for (const [box, left] of level) {
        let x = left;
        const children = tree.childrenOf(box);
        for (let i = 0; i < children.length; i++) {
          const w = children[i].value * scale;
          if (w < LEAST) {
            const rest = left + (box.value - box.self) * scale - x;
            if (rest > 0.2) rowAt(depth).rest.push({x, w: rest, parent: box, from: i});
            break;
          }
          put(depth, children[i], x, w);
          next.push([children[i], x]);
          x += w;
        }
      }
      level = next;
    }
    return {rows, width, zoom, height: rows.length * ROW};
  }

  // ---- drawing

  const widths = new Map();
  const measure = document.createElement("canvas").getContext("2d");
  measure.font = surface.font(12, false);

  function textWidth(text) {
    let width = widths.get(text);
    if (width === undefined) {
      if (widths.size >= WIDTHS_KEPT) widths.clear();
      widths.set(text, (width = measure.measureText(text).width));
    }
    return width;
  }

  /** As much of the label as fits, "" where nothing sensible does. */
  function labelFit(label, room) {
    const whole = format.shortened(label, LABEL_LIMIT);
    const width = textWidth(whole);
    if (width <= room) return whole;
    let letters = Math.floor((room / width) * whole.length);
    const cut = () => whole.slice(0, letters) + "…";
    while (letters >= 2 && textWidth(cut()) > room) letters--;
    return letters < 2 ? "" : cut();
  }

  function labelOf(box) {
    if (box.label === undefined) {
      const place = tree.placeOf(box);
      const name = tree.nameOf(box);
      const python = box.parent && box.shape.data.frames.language(tree.frameOf(box)) === "python";
      box.label = place && (python || box.shape.data.lineGroups === box.shape.groups) ?
        `${name}  ${format.fileName(place)}` :
        name;
    }
    return box.label;
  }

  const categoryOf = (box) => (box.category ||= tree.categoryOf(box));

  /**
   * Draws the rows between `top` and the surface's end. `marks`: {found: matching groups or null, hover, pin: boxes,
   * upright, colorOf: a colour for each box, where it is not by its category}. With `upright` the root is at the
   * bottom.
   */
  function draw(to, plan, top, marks) {
    const colors = theme.now();
    to.rect(0, 0, to.width, to.height, colors.back);
    const total = Math.max(plan.height, marks.upright ? to.height + top : 0);
    const yOf = (depth) => (marks.upright ? total - (depth + 1) * ROW : depth * ROW) - top;
    const shown = plan.rows.map((row, depth) => ({row, y: yOf(depth), isAbove: depth < plan.zoom.depth}))
                    .filter(({y}) => y > -ROW && y < to.height);
    boxesDraw(to, shown, marks, colors);
    for (const {row, y} of shown) labelsDraw(to, row, y, marks, colors);
    for (const [box, thickness] of [[marks.hover, 1], [marks.pin, 2]])
      if (box) outlineDraw(to, plan, box, yOf(box.depth), thickness, colors);
  }

  /** All boxes of one colour together: changing the colour costs a canvas more than a box does. */
  function boxesDraw(to, shown, marks, colors) {
    const byColor = new Map();
    const put = (color, x, y, w) => {
      let places = byColor.get(color);
      if (!places) byColor.set(color, (places = []));
      places.push(x, y, w);
    };
    for (const {row, y, isAbove} of shown) {
      for (const {x, w} of row.rest) put(colors.line, x, y, Math.max(w - 0.5, 0.5));
      for (let i = 0; i < row.boxes.length; i++) {
        const w = row.w[i];
        put(boxColor(row.boxes[i], isAbove, marks, colors), row.x[i], y, w > 2 ? w - 0.8 : w);
      }
    }
    for (const [color, places] of byColor)
      for (let i = 0; i < places.length; i += 3) to.rect(places[i], places[i + 1], places[i + 2], ROW - 1, color);
  }

  function labelsDraw(to, row, y, marks, colors) {
    for (let i = 0; i < row.boxes.length; i++) {
      if (row.w[i] < LABEL_LEAST) continue;
      const box = row.boxes[i];
      const label = labelFit(labelOf(box), row.w[i] - 2 * PAD);
      if (!label) continue;
      const found = marks.found && box.parent && marks.found[box.group];
      to.text(
        row.x[i] + PAD, y + ROW / 2, label,
        marks.found && !found ? colors.faint :
          found               ? colors.onMatch :
                                colors.box);
    }
  }

  function boxColor(box, isAbove, marks, colors) {
    if (!marks.found && marks.colorOf) return marks.colorOf(box);
    if (!marks.found) return isAbove ? theme.box("root", box.group) : theme.box(categoryOf(box), box.group);
    if (box.parent && marks.found[box.group]) return colors.match;
    return theme.box("other", box.group);
  }

  function placeOf(plan, box) {
    const row = plan.rows[box.depth];
    const at = row ? row.boxes.indexOf(box) : -1;
    return at < 0 ? null : {x: row.x[at], w: row.w[at]};
  }

  function outlineDraw(to, plan, box, y, thickness, colors) {
    const place = placeOf(plan, box);
    if (place)
      to.frame(
        place.x + thickness / 2, y + thickness / 2 - 0.5, Math.max(place.w - thickness - 0.3, 1), ROW - thickness,
        colors.text, thickness);
  }

  // ---- finding

  /** What is at x in a row: {box}, {rest}, or null. Boxes of a row lie in order: a binary search. */
  function at(plan, depth, x) {
    const row = plan.rows[depth];
    if (!row) return null;
    const i = figures.lastUpTo(row.x, x);
    if (i >= 0 && x < row.x[i] + Math.max(row.w[i], 1)) return {box: row.boxes[i]};
    const rest = row.rest.find((one) => one.x <= x && x < one.x + one.w);
    return rest ? {rest} : null;
  }

  return {layout, draw, at, placeOf, labelOf, ROW};
})();
