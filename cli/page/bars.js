/* The histogram of SIZES: allocations by the size of their block. */
const bars = (() => {
  const LEFT = 66;
  const BOTTOM = 34;
  const TOP = 10;

  function draw(to, entries) {
    const colors = theme.now();
    to.rect(0, 0, to.width, to.height, colors.back);
    const list = [...entries].sort((a, b) => a.upTo - b.upTo);
    const most = list.reduce((top, entry) => Math.max(top, entry.allocations), 1);
    const bottom = to.height - BOTTOM;
    const step = (to.width - LEFT - 12) / Math.max(1, list.length);
    for (const share of [0, 0.5, 1]) {
      const y = bottom - share * (bottom - TOP);
      to.line([[LEFT, y], [to.width - 12, y]], colors.line);
      to.text(LEFT - 8, y, format.count(Math.round(share * most)), colors.faint, {size: 11, align: "right"});
    }
    const every = Math.ceil(56 / step);
    list.forEach((entry, i) => {
      const height = Math.max(1, (entry.allocations / most) * (bottom - TOP));
      to.rect(LEFT + i * step + 1, bottom - height, Math.max(1, step - 2), height, theme.kind("heap"));
      if (i % every === 0)
        to.text(
          LEFT + (i + 0.5) * step, bottom + 12, format.bytes(entry.upTo), colors.faint, {size: 11, align: "center"});
    });
    to.text(to.width / 2, to.height - 8, "block size, up to", colors.faint, {size: 11, align: "center"});
  }

  return {draw};
})();
