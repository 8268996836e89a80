/* PNG and SVG of a chart, CSV of a table. */
const output = (() => {
  const TITLE = 30;

  /** Draws a title above what `draw(surface)` draws on a surface of its own below it. */
  function withTitle(to, title, draw) {
    const colors = theme.now();
    to.rect(0, 0, to.width, to.height, colors.back);
    to.text(10, TITLE / 2, format.shortened(title, 200), colors.text, {size: 13, bold: true});
    const moved = {...to, height: to.height - TITLE};
    for (const name of ["rect", "frame", "text"]) moved[name] = (x, y, ...rest) => to[name](x, y + TITLE, ...rest);
    for (const name of ["line", "area"])
      moved[name] = (points, ...rest) => to[name](points.map(([x, y]) => [x, y + TITLE]), ...rest);
    draw(moved);
  }

  /** `chart`: {name, title, width, height, draw(surface)}; `type`: svg or png. */
  function chartSave(chart, type) {
    const height = chart.height + TITLE;
    if (type === "svg") {
      const to = surface.svg(chart.width, height);
      withTitle(to, chart.title, chart.draw);
      dom.download(`${chart.name}.svg`, "image/svg+xml", to.text_of());
      return;
    }
    const picture = surface.picture(chart.width, height);
    withTitle(picture.surface, chart.title, chart.draw);
    picture.element.toBlob((blob) => dom.download(`${chart.name}.png`, "image/png", blob), "image/png");
  }

  /** As RFC 4180. A text that a spreadsheet would take for a formula gets a ' before it. */
  function csvCell(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text;
  }

  const csvText = (lines) => lines.map((cells) => cells.map(csvCell).join(",") + "\r\n").join("");

  const linesSave = (lines, name) => dom.download(`${name}.csv`, "text/csv", csvText(lines));

  /** A table of tables.make: exact figures, and for sites their whole stack, leaf first. */
  function csvOf(data, made) {
    const head = made.columns.map((column) => column.label);
    if (made.table.stack) head.push("File", "Process", "Stack");
    const lines = made.entries.map((entry) => {
      const cells = made.cellsOf(entry);
      if (made.table.stack) {
        const {frames} = data;
        const frame = data.siteFrame(entry.row);
        cells.push(
          frame < 0 ? "" : frames.place(frame), data.processes[data.rows.process[entry.row]].name,
          data.stackOf(data.rows.node[entry.row])
            .map((one) => [frames.name(one), frames.place(one)].filter(Boolean).join(" "))
            .join(" < "));
      }
      return cells;
    });
    return [head, ...lines];
  }

  const csvSave = (data, made, name) => linesSave(csvOf(data, made), name);

  return {chartSave, csvSave, linesSave};
})();
