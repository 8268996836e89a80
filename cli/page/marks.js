/* The points in time that the program gave names to; a repeated name is an iteration, from one mark to the next. */
const marks = (() => {
  const CROWD = 4;  // pixels for each mark: with less they are ticks at the top
  const TICK = 7;
  const NAME_MOST = 40;

  /**
   * Those of the processes, in the order of their times: {name, at, live, process, until: the next of that name or the
   * process's end, number: how many of that name there were before, count: of that name}.
   */
  function of (processes) {
    const all = [];
    for (const process of processes) {
      const last = new Map();
      const counts = new Map();
      process.markAt.forEach((seconds, i) => {
        const name = process.markName[i];
        const number = counts.get(name) || 0;
        const mark =
          {name, at: seconds + process.start, live: process.markLive[i], process, until: process.end, number};
        if (number) last.get(name).until = mark.at;
        last.set(name, mark);
        counts.set(name, number + 1);
        all.push(mark);
      });
    }
    return all.sort((a, b) => a.at - b.at);
  }

  /** The index of the first mark at `seconds` or later. */
  function firstFrom(list, seconds) {
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle].at < seconds)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  /** The mark closest to a time, at most `within` seconds from it; null: there is none. */
  function near(list, seconds, within) {
    const next = firstFrom(list, seconds);
    const close = [list[next - 1], list[next]].filter((mark) => mark && Math.abs(mark.at - seconds) <= within);
    return close.sort((a, b) => Math.abs(a.at - seconds) - Math.abs(b.at - seconds))[0] || null;
  }

  /** The iteration that begins at a mark, null: it has no length. */
  const rangeOf = (mark) => (mark.until > mark.at ? [mark.at, mark.until].map((at) => Number(at.toFixed(6))) : null);

  // ---- by name

  /** What live memory grew by from one mark of a name to the next, on the mean; null: it came once. */
  const growthOf = ({count, firstLive, lastLive}) => (count > 1 ? (lastLive - firstLive) / (count - 1) : null);

  /** Those that no list of single marks holds are counted by name. */
  const wholeNames = (process) => process.mark_names.map((one) => ({
                                                           name: one.name,
                                                           process,
                                                           count: one.count,
                                                           first: one.first_seconds + process.start,
                                                           last: one.last_seconds + process.start,
                                                           firstLive: one.first_live_bytes,
                                                           lastLive: one.last_live_bytes
                                                         }));

  /** Of the single marks in a range, whose ends are rounded. */
  function namesWithin(process, [from, to]) {
    const names = new Map();
    process.markAt.forEach((seconds, i) => {
      const at = seconds + process.start;
      if (at < from - figures.EDGE_SECONDS || at > to + figures.EDGE_SECONDS) return;
      const name = process.markName[i];
      const live = process.markLive[i];
      if (!names.has(name)) names.set(name, {name, process, count: 0, first: at, firstLive: live});
      const entry = names.get(name);
      entry.count++;
      entry.last = at;
      entry.lastLive = live;
    });
    return [...names.values()];
  }

  /** How many marks have no time of their own. */
  const countedOnly = (processes) => processes.reduce(
    (sum, process) => sum + process.mark_names.reduce((all, {count}) => all + count, 0) - process.markAt.length, 0);

  /** One entry a name and process: {name, process, count, first, last: seconds, firstLive, lastLive, growth}. */
  const namesOf = (processes, range) =>
    processes.flatMap((process) => (range ? namesWithin(process, range) : wholeNames(process)))
      .map((entry) => ({...entry, growth: growthOf(entry)}));

  /** From the first mark of an entry to the last one, of a single mark to the end of its process; null: no length. */
  function rangeOfName({first, last, count, process}) {
    const ends = [first, count > 1 ? last : process.end].map((at) => Number(at.toFixed(6)));
    return ends[0] < ends[1] ? ends : null;
  }

  /**
   * The iteration `by` (1 or -1) from the one that a range is, of the same name; else the first one from the range on.
   */
  function step(list, range, by) {
    const same = (mark) => {
      const own = rangeOf(mark);
      return own && own[0] === range[0] && own[1] === range[1];
    };
    const now = range && list.find(same);
    const next = now ?
      list.find((mark) => mark.process === now.process && mark.name === now.name && mark.number === now.number + by) :
      list[Math.min(firstFrom(list, range ? range[0] : 0), list.length - 1)];
    return next ? rangeOf(next) : null;
  }

  const text = (mark) => `${format.shortened(mark.name, NAME_MOST)}${mark.number ? ` ${mark.number + 1}` : ""}`;

  /** One line a pixel column; the chosen one with its name, those of the name `name` stand out. `xOf`: of seconds. */
  function draw(to, list, chosen, name, {top, bottom, left, right, xOf}, colors) {
    const columnsOf = (some) => new Set(some.map((mark) => Math.round(xOf(mark.at))));
    const columns = columnsOf(list);
    const long = columns.size * CROWD <= right - left;
    for (const x of columns) to.rect(x, top, 1, long ? bottom - top : TICK, colors.mark);
    for (const x of columnsOf(list.filter((mark) => mark.name === name)))
      to.rect(x, top, 1, bottom - top, colors.accent);
    if (!chosen) return;
    const x = Math.round(xOf(chosen.at));
    const onLeft = x > (left + right) / 2;
    to.rect(x - 1, top, 2, bottom - top, colors.accent);
    to.text(
      x + (onLeft ? -5 : 5), top + 8, text(chosen), colors.text,
      {size: 11, bold: true, align: onLeft ? "right" : "left"});
  }

  return {of, near, rangeOf, namesOf, countedOnly, rangeOfName, step, text, draw};
})();
