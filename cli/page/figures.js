/*
 * What each row weighs in the chosen view: mode, time range and filters. With a range, only what was recorded over
 * time can follow it: leaked, live, peak and growth. The rest is of the whole run, and the page says so.
 */
const figures = (() => {
  const leakedBytes = (rows, row) => (rows.isSuppressed(row) ? 0 : rows.direct_bytes[row] + rows.indirect_bytes[row]);
  const leakedBlocks = (rows, row) =>
    (rows.isSuppressed(row) ? 0 : rows.direct_blocks[row] + rows.indirect_blocks[row]);

  /** `over`: has figures over time. `blocks` is null where the blocks are the value itself. */
  const MODES = [
    {
      id: "leaked",
      label: "Leaked",
      what: "bytes that nobody freed and nothing reaches",
      bytes: true,
      over: true,
      value: leakedBytes,
      blocks: leakedBlocks
    },
    {
      id: "live",
      label: "Live",
      what: "bytes not freed",
      bytes: true,
      over: true,
      value: (rows, row) => rows.live_bytes[row],
      blocks: (rows, row) => rows.live_blocks[row]
    },
    {
      id: "peak",
      label: "Peak",
      what: "bytes at the peak of its process",
      bytes: true,
      over: true,
      value: (rows, row) => rows.peak_bytes[row],
      blocks: (rows, row) => rows.peak_blocks[row]
    },
    {
      id: "allocated",
      label: "Allocated",
      what: "bytes ever allocated",
      bytes: true,
      value: (rows, row) => rows.allocated_bytes[row],
      blocks: (rows, row) => rows.allocations[row]
    },
    {
      id: "allocations",
      label: "Allocations",
      what: "allocations",
      bytes: false,
      value: (rows, row) => rows.allocations[row],
      blocks: null
    },
    {
      id: "temporaries",
      label: "Temporaries",
      what: "blocks freed as the thread's next step",
      bytes: false,
      value: (rows, row) => rows.temporaries[row],
      blocks: null
    },
    {
      id: "growth",
      label: "Growth",
      what: "bytes more at the end of the range than at its start",
      bytes: true,
      over: true,
      value: null,
      blocks: null
    },
  ];

  const modeOf = (id) => MODES.find((mode) => mode.id === id);
  const textOf = (mode, value) => (mode.bytes ? format.bytes(value) : format.count(value));

  /** The number of the last entry of a rising list that is not over `value`, -1: none. */
  function lastUpTo(list, value) {
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle] <= value)
        low = middle + 1;
      else
        high = middle;
    }
    return low - 1;
  }

  /** What a process held in all of one kind at a time of its own: the last sample's. */
  function totalAt(process, kind, seconds) {
    const sample = lastUpTo(process.sampleAt, seconds);
    return sample < 0 ? 0 : process.samples[kind][sample];
  }

  /** Puts into `into`, by row, what each site held at a point of its process. */
  function pointTake(data, process, point, into) {
    const sums = new Array(model.KINDS.length).fill(0);
    for (const [row, bytes] of process.curves) {
      into[row] = bytes[point];
      sums[data.rows.kind[row]] += bytes[point];
    }
    for (let kind = 0; kind < sums.length; kind++) {
      const rest = totalAt(process, kind, process.pointAt[point]) - sums[kind];
      into[data.rows.restOf(process.index, kind)] = Math.max(0, rest);
    }
  }

  function finalTake(data, process, figure, into) {
    for (let row = process.firstRow; row < process.endRow; row++) into[row] = figure[row];
  }

  const EDGE_SECONDS = 1e-6;

  /**
   * What each row held at a time of the page: {values by row, times: [{process, at, exact}]}. At the end of a process
   * all its sites are known; before that, the larger ones, at the last point until then.
   */
  function liveAt(data, seconds) {
    const values = new Float64Array(data.rows.count);
    const times = [];
    for (const process of data.processes) {
      const own = seconds - process.start;
      if (own < 0 || own > process.seconds + EDGE_SECONDS) continue;
      if (own >= process.seconds - EDGE_SECONDS) {
        finalTake(data, process, data.rows.live_bytes, values);
        times.push({process, at: process.end, exact: true});
        continue;
      }
      const point = lastUpTo(process.pointAt, own + EDGE_SECONDS);
      if (point < 0) continue;
      pointTake(data, process, point, values);
      times.push({process, at: process.start + process.pointAt[point], exact: false});
    }
    return {values, times};
  }

  const processTotalAt = (process, seconds) =>
    model.KINDS.reduce((sum, _, kind) => sum + totalAt(process, kind, seconds), 0);

  /** The same for the height of each process within a range: its own peak where that lies in it, else a point's. */
  function peakIn(data, [from, to]) {
    const values = new Float64Array(data.rows.count);
    const times = [];
    for (const process of data.processes) {
      const peak = process.summary.peak_seconds + process.start;
      if (from <= peak && peak <= to) {
        finalTake(data, process, data.rows.peak_bytes, values);
        times.push({process, at: peak, exact: true});
        continue;
      }
      let best = -1;
      let most = -1;
      process.pointAt.forEach((at, point) => {
        const within = from <= at + process.start && at + process.start <= to;
        const total = within ? processTotalAt(process, at) : -1;
        if (total > most) [most, best] = [total, point];
      });
      if (best < 0) best = lastUpTo(process.pointAt, Math.min(to - process.start, process.seconds));
      if (best < 0 || to < process.start || from > process.end) continue;
      pointTake(data, process, best, values);
      times.push({process, at: process.start + process.pointAt[best], exact: false});
    }
    return {values, times};
  }

  // ---- leaks in a range: no block's time is recorded, but a lost block stays to the end

  const lostBytes = (rows, row) => rows.direct_bytes[row] + rows.indirect_bytes[row];

  /**
   * By row how many bytes of its leaks were there at a time and from then on: at most what it leaked, and no more than
   * the least that its site ever held from that time to the end. So it never falls, and ends at what leaked. `rows`
   * that have no curve are known at the end alone.
   */
  function lostBy(data, process, seconds, into) {
    const {rows} = data;
    const own = seconds - process.start;
    if (own <= EDGE_SECONDS) return;
    const atEnd = own >= process.seconds - EDGE_SECONDS;
    const first = lastUpTo(process.pointAt, own + EDGE_SECONDS);
    if (atEnd)
      for (let row = process.firstRow; row < process.endRow; row++) into[row] = lostBytes(rows, row);
    else if (first >= 0)
      for (const [row, curve] of process.curves) {
        const lost = lostBytes(rows, row);
        if (lost) into[row] = curve.reduce((least, bytes, i) => (i < first ? least : Math.min(least, bytes)), lost);
      }
  }

  /** When the sites' figures at a time of a process are from; null: nothing was recorded by then. */
  function lookAt(process, seconds) {
    if (seconds <= process.start + EDGE_SECONDS) return {process, at: process.start, exact: true};
    if (seconds >= process.end - EDGE_SECONDS) return {process, at: process.end, exact: true};
    const point = lastUpTo(process.pointAt, seconds - process.start + EDGE_SECONDS);
    return point < 0 ? null : {process, at: process.start + process.pointAt[point], exact: false};
  }

  /**
   * What leaks rose by in a range: {values by row, times, unplaced: bytes of leaks that no time is known of}. Ranges
   * side by side add up to the whole; suppressed leaks are in it.
   */
  function lostIn(data, [from, to]) {
    const values = new Float64Array(data.rows.count);
    const before = new Float64Array(data.rows.count);
    const times = [];
    let unplaced = 0;
    for (const process of data.processes.filter((one) => from <= one.end && one.start <= to)) {
      const ends = [lookAt(process, from), lookAt(process, to)].filter(Boolean);
      const whole = ends.length === 2 && ends.every((end) => end.exact);
      times.push(...ends);
      lostBy(data, process, from, before);
      lostBy(data, process, to, values);
      for (let row = process.firstRow; row < process.endRow; row++) {
        if (whole || process.curves.has(row)) continue;
        unplaced += leakedBytes(data.rows, row);
        values[row] = 0;
      }
    }
    for (let row = 0; row < values.length; row++) values[row] = Math.max(0, values[row] - before[row]);
    return {values, times, unplaced};
  }

  function leakedIn(data, range) {
    const {values, times, unplaced} = lostIn(data, range);
    for (let row = 0; row < data.rows.recorded; row++)
      if (data.rows.isSuppressed(row)) values[row] = 0;
    return {values, times, unplaced};
  }

  // ---- growth

  /** Without a range, growth is that of the window which GROWTH was judged by. */
  function growthRange(data, range) {
    if (range) return range;
    const main = data.processes[0];
    const window = main.growth.cpu.window;
    return window ? [window[0] + main.start, window[1] + main.start] : [main.start + 0.2 * main.seconds, main.end];
  }

  function growthIn(data, [from, to]) {
    const before = liveAt(data, from);
    const after = liveAt(data, to);
    for (let row = 0; row < after.values.length; row++) after.values[row] -= before.values[row];
    return {values: after.values, times: [...before.times, ...after.times]};
  }

  /** Whether some sites of a process pass and others do not, for what is not known by site. */
  const isBySite = (view) => view.thread !== null || view.entry !== null || view.only !== null;

  /** Which rows the filters let through. */
  function filterOf(data, view) {
    const {rows, processes, entries} = data;
    const kinds = model.KINDS.map((kind) => !view.withoutKinds.includes(kind));
    const wanted = processes.map(
      (process) => (view.process === null || process.index === view.process) &&
        (view.rank === null || process.rank === view.rank));
    const within = view.only === null ? null : data.nodesWith(view.only);
    // What small sites held over time is not known by thread.
    return (row) => kinds[rows.kind[row]] && wanted[rows.process[row]] && !(view.thread !== null && rows.isRest(row)) &&
      (view.entry === null || entries[rows.node[row]] === view.entry) && (!within || within[rows.node[row]] === 1);
  }

  /** Every row's figure by `figure(rows, row)`. */
  function plainTake(data, figure) {
    const values = new Float64Array(data.rows.count);
    for (let row = 0; row < data.rows.recorded; row++) values[row] = figure(data.rows, row);
    return values;
  }

  function valuesOf(data, mode, range) {
    if (mode.id === "growth") return growthIn(data, growthRange(data, range));
    if (range && mode.id === "leaked") return leakedIn(data, range);
    if (range && mode.id === "live") return liveAt(data, range[1]);
    if (range && mode.id === "peak") return peakIn(data, range);
    return {values: plainTake(data, mode.value), times: null};
  }

  /**
   * The weights of a view: {mode, values and blocks by row (blocks null: not known), times: null or where the values
   * are from, unplaced: leaked bytes of which no time is known}. Growth counts what rose only.
   */
  function weigh(data, view) {
    const mode = modeOf(view.mode);
    const {values, times, unplaced} = valuesOf(data, mode, view.range);
    const passes = filterOf(data, view);
    const blocks = mode.blocks && !times ? plainTake(data, mode.blocks) : null;
    for (let row = 0; row < values.length; row++) {
      if (values[row] > 0 && passes(row)) continue;
      values[row] = 0;
      if (blocks && !passes(row)) blocks[row] = 0;
    }
    return {mode, values, blocks, times, unplaced: unplaced || 0, wholeRun: view.range !== null && !mode.over};
  }

  /** The weights added up to every node from the nodes below it, `by` row. */
  function sumsOf(data, by) {
    const sums = new Float64Array(data.nodes.count);
    for (let row = 0; row < by.length; row++) sums[data.rows.node[row]] += by[row];
    for (let node = sums.length - 1; node > 0; node--) sums[data.nodes.parent[node]] += sums[node];
    return sums;
  }

  return {
    MODES,
    EDGE_SECONDS,
    modeOf,
    textOf,
    weigh,
    sumsOf,
    liveAt,
    lostIn,
    growthRange,
    filterOf,
    isBySite,
    lastUpTo,
    totalAt,
    leakedBytes,
    leakedBlocks
  };
})();
