/* Allocations over time, and the temporaries among them: a strip of its own below the memory. */
const calls = (() => {
  const STRIP = 30;  // pixels, the gap above it included
  const GAP = 6;

  /** Calls up to a time, on a line from sample to sample. */
  function upTo(curve, seconds) {
    const i = figures.lastUpTo(curve.at, seconds);
    if (i < 0) return 0;
    const value = curve.sums[i];
    if (i + 1 >= curve.at.length) return value;
    const share = (seconds - curve.at[i]) / (curve.at[i + 1] - curve.at[i]);
    return value + share * (curve.sums[i + 1] - value);
  }

  function curveOf(process, values) {
    let sum = 0;
    return {
      at: process.sampleAt.map((seconds) => seconds + process.start),
      sums: values.map((value) => (sum += value))
    };
  }

  /** {allocations, temporaries}: of each how many calls there were in a span of time; null: not recorded. */
  function of (processes) {
    const known = processes.filter((process) => process.allocations);
    if (!known.length) return null;
    const between = (curves) => (from, to) =>
      curves.reduce((sum, curve) => sum + upTo(curve, to) - upTo(curve, from), 0);
    return {
      allocations: between(known.map((process) => curveOf(process, process.allocations))),
      temporaries: between(known.map((process) => curveOf(process, process.temporaries))),
    };
  }

  /** A rate for people: "12 k/s". */
  function rateText(rate) {
    const [scaled, unit] = rate >= 1e9 ? [rate / 1e9, "G"] :
      rate >= 1e6                      ? [rate / 1e6, "M"] :
      rate >= 1e3                      ? [rate / 1e3, "k"] :
                                         [rate, ""];
    return `${Number(scaled.toPrecision(3))}${unit ? ` ${unit}` : ""}/s`;
  }

  const colors = () => ({allocations: theme.now().faint, temporaries: theme.now().bad});

  /** Rates by pixel column. `columns` of them, `end` the seconds of all. */
  function draw(to, series, {left, top, bottom, columns, end}, textColor) {
    const rates = {allocations: [], temporaries: []};
    for (const what of Object.keys(rates))
      for (let x = 0; x < columns; x++)
        rates[what].push(series[what]((x / columns) * end, ((x + 1) / columns) * end) / (end / columns));
    const most = rates.allocations.reduce((highest, rate) => Math.max(highest, rate), 0);
    to.text(left - 8, (top + GAP + bottom) / 2, rateText(most), textColor, {size: 11, align: "right"});
    if (most <= 0) return;
    const y = (rate) => bottom - (rate / most) * (bottom - top - GAP);
    for (const what of Object.keys(rates)) {
      const upper = rates[what].flatMap((rate, x) => [[left + x, y(rate)], [left + x + 1, y(rate)]]);
      to.area([[left, bottom], ...upper, [left + columns, bottom]], colors()[what]);
    }
  }

  return {of, draw, rateText, colors, STRIP};
})();
