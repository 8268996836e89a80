/* The tables: what each lists, by which columns, in which order. Figures are those of `heaptide report --json`. */
const tables = (() => {
  const bytes = (label, get, more = {}) => ({label, get, text: format.bytes, number: true, ...more});
  const count = (label, get, more = {}) => ({label, get, text: format.count, number: true, ...more});
  const known = (text) => (value) => (value === null ? "" : text(value));

  function siteText(data, row) {
    const frame = data.siteFrame(row);
    return frame < 0 ? "[unknown]" : data.frames.name(frame);
  }
  function placeText(data, row) {
    const frame = data.siteFrame(row);
    return frame < 0 ? "" : format.fileName(data.frames.place(frame));
  }

  const SITE = {
    label: "Site",
    wide: true,
    get: (entry, data) => siteText(data, entry.row),
    text: String,
    where: (entry, data) => placeText(data, entry.row)
  };
  const KIND = {label: "Kind", get: (entry, data) => model.KINDS[data.rows.kind[entry.row]], text: String, kind: true};
  const PROCESS = {label: "Process", get: (entry) => entry.process.name, text: String};
  const heldText = (entry, data) => (data.rows.heldBy[entry.row] || []).join(" << ");
  const HELD = {label: "Held by", get: heldText, text: String, roomy: true};
  const BLOCKS_THEN =
    {label: "Blocks", number: true, get: (entry) => entry.blocks, text: known(format.count), notOver: true};
  const figure = (name) => (entry, data) => data.rows[name][entry.row];

  /** Rows that pass the filters and for which `wanted` holds. */
  function rowsWhere(data, view, wanted) {
    const passes = figures.filterOf(data, view);
    const entries = [];
    for (let row = 0; row < data.rows.recorded; row++)
      if (passes(row) && wanted(row)) entries.push({row});
    return entries;
  }

  const isLeak = (rows, row) =>
    rows.direct_blocks[row] + rows.indirect_blocks[row] + rows.direct_bytes[row] + rows.indirect_bytes[row] > 0;
  const isPython = (rows, row) => model.KINDS[rows.kind[row]] === "python";

  // ---- over time

  /** Entries of all rows whose values at one of two times are not 0, rests included. */
  function liveEntries(data, view) {
    const passes = figures.filterOf(data, view);
    const [from, to] = view.range || [null, null];
    const before = view.range ? figures.liveAt(data, from).values : null;
    const now = view.range ? figures.liveAt(data, to).values : data.rows.live_bytes;
    const entries = [];
    for (let row = 0; row < data.rows.count; row++) {
      const change = before ? now[row] - before[row] : null;
      if (passes(row) && (now[row] || change || (!before && data.rows.live_blocks[row])))
        entries.push({row, live: now[row], change, blocks: before ? null : data.rows.live_blocks[row]});
    }
    return entries;
  }

  /** Least squares over a site's points in a range; null where it does not rise. The rule of cli/growth.c. */
  function riseOf(process, curve, [from, to]) {
    const points = [];
    process.pointAt.forEach((at, i) => {
      if (from <= at + process.start && at + process.start <= to) points.push([at, curve[i]]);
    });
    if (points.length < 2 || points[points.length - 1][1] <= points[0][1]) return null;
    const mean = (k) => points.reduce((sum, point) => sum + point[k], 0) / points.length;
    const [middle, level] = [mean(0), mean(1)];
    let products = 0;
    let squares = 0;
    for (const [at, value] of points) {
      products += (at - middle) * (value - level);
      squares += (at - middle) ** 2;
    }
    return squares > 0 && products > 0 ? products / squares : null;
  }

  /** With a range, leaks that came about in it. */
  function leakEntries(data, view) {
    const lost = view.range ? figures.lostIn(data, view.range).values : null;
    return rowsWhere(
             data, view, (row) => isLeak(data.rows, row) && !isPython(data.rows, row) && (!lost || lost[row] > 0))
      .map(({row}) => ({row, lost: lost && lost[row]}));
  }

  function growthEntries(data, view) {
    const passes = figures.filterOf(data, view);
    const found = view.range ?
      data.processes.flatMap(
        (process) => [...process.curves].map(([row, curve]) => ({row, rate: riseOf(process, curve, view.range)}))) :
      data.growing;
    return found.filter(({row, rate}) => rate !== null && passes(row));
  }

  function peakEntries(data, view, weights) {
    if (!view.range)
      return rowsWhere(data, view, (row) => data.rows.peak_bytes[row] > 0)
        .map(({row}) => ({row, bytes: data.rows.peak_bytes[row], blocks: data.rows.peak_blocks[row]}));
    const peak = weights("peak").values;
    return Array.from(peak, (value, row) => ({row, bytes: value, blocks: null})).filter((entry) => entry.bytes > 0);
  }

  // ---- not of sites

  const chosen = (data, view) => timeline.processesOf(data, view);

  function sizesEntries(data, view) {
    const sums = new Map();
    for (const process of chosen(data, view)) {
      for (const {up_to, allocations, bytes: all} of process.sizes) {
        const sum = sums.get(up_to) || {upTo: up_to, allocations: 0, bytes: 0};
        sum.allocations += allocations;
        sum.bytes += all;
        sums.set(up_to, sum);
      }
    }
    return [...sums.values()];
  }

  const gpuList = (name) => (data, view) =>
    chosen(data, view)
      .flatMap((process) => ((process.gpu && process.gpu[name]) || []).map((entry) => ({...entry, process})));

  const siteWords = ({
    function: name,
    file,
    line
  }) => [name, file && (line ? `${format.fileName(file)}:${line}` : format.fileName(file))].filter(Boolean).join("  ");

  /** Devices, streams and tensors in one list. */
  function gpuEntries(data, view) {
    const entry = (what, name, one) => ({
      what,
      name,
      device: one.device,
      live: one.live_bytes ?? one.bytes,
      peak: one.peak_bytes ?? null,
      allocations: one.allocations ?? null,
      site: one.site ? siteWords(one.site) : "",
      held: (one.held_by || []).join(" << "),
    });
    const tensorName = ({dtype, shape}) => `${dtype || "tensor"} [${(shape || []).join(", ")}]`;
    return [
      ...gpuList("devices")(data, view).map((one) => entry("device", one.name || `device ${one.device}`, one)),
      ...gpuList("streams")(data, view).map((one) => entry("stream", one.name || one.stream, one)),
      ...gpuList("tensors")(data, view).map((one) => entry("tensor", tensorName(one), one)),
    ];
  }

  const threadEntries = (data, view) =>
    chosen(data, view).flatMap((process) => process.threads.map((thread) => ({...thread, process})));

  const markEntries = (data, view) =>
    marks.namesOf(chosen(data, view), view.range).map((mark) => ({mark, process: mark.process}));

  /** Who calls the function in focus, and whom it calls, by the weights of the view. */
  function callerEntries(data, view, weights) {
    if (view.focus === null) return [];
    const {nodes, rows} = data;
    const groups = view.lines ? data.lineGroups : data.groups;
    const weighed = weights(view.mode);
    const callers = new Map();
    const callees = new Map();
    const add = (map, key, value) => map.set(key, (map.get(key) || 0) + value);
    for (let row = 0; row < rows.count; row++) {
      const value = weighed.values[row];
      if (value > 0)
        neighboursAdd(
          data, groups, rows.node[row], view.focus, (map, key) => add(map, key, value), callers, callees, nodes);
    }
    const list = (map, relation) => [...map].map(([group, value]) => ({relation, group, value, mode: weighed.mode}));
    return [...list(callers, "caller"), ...list(callees, "callee")];
  }

  /** Each neighbour once for a stack, however often it stands beside the function there. */
  function neighboursAdd(data, groups, leaf, focus, add, callers, callees, nodes) {
    const seen = {callers: new Set(), callees: new Set()};
    let inner = null;
    for (let node = leaf; node; node = nodes.parent[node]) {
      const frame = nodes.frame[node];
      if (data.frames.isProcess(frame)) break;
      const group = groups.of[frame];
      if (group === focus) seen.callees.add(inner === null ? -1 : inner);
      if (inner === focus) seen.callers.add(group);
      inner = group;
    }
    if (inner === focus) seen.callers.add(-1);
    seen.callees.delete(focus);
    seen.callers.delete(focus);
    seen.callees.forEach((group) => add(callees, group));
    seen.callers.forEach((group) => add(callers, group));
  }

  function groupText(entry, data, view) {
    const groups = view.lines ? data.lineGroups : data.groups;
    if (entry.group < 0) return entry.relation === "caller" ? "[nobody: it is outermost]" : "[itself]";
    return data.frames.name(groups.first[entry.group]);
  }

  // ---- the list of tables

  /**
   * `whole`: cannot follow a range. `ofProcesses`: known of whole processes, so that of the filters only those by
   * process and rank reach it. Columns that are `over` stand there with a range only, `notOver` without one.
   * `sort`: the column it begins with. `stack`: entries have a `row`.
   */
  const TABLES = [
    {
      id: "leaks",
      label: "Leaks",
      stack: true,
      sort: 1,
      empty: "Nothing leaked.",
      entries: leakEntries,
      columns: [
        SITE, bytes("In range", (entry) => entry.lost, {over: true}),
        bytes("Bytes", (entry, data) => data.rows.direct_bytes[entry.row] + data.rows.indirect_bytes[entry.row]),
        bytes("Direct", figure("direct_bytes")), bytes("Indirect", figure("indirect_bytes")),
        count("Blocks", (entry, data) => data.rows.direct_blocks[entry.row] + data.rows.indirect_blocks[entry.row]),
        KIND
      ]
    },
    {
      id: "growth",
      label: "Growth",
      stack: true,
      sort: 1,
      empty: "No site keeps rising.",
      entries: growthEntries,
      columns: [
        SITE,
        {label: "Per second", number: true, get: (entry) => entry.rate, text: (rate) => `${format.bytes(rate)}/s`},
        bytes("Live at end", figure("live_bytes")), KIND
      ]
    },
    {
      id: "live",
      label: "Live",
      stack: true,
      sort: 1,
      empty: "Nothing was live.",
      entries: liveEntries,
      columns: [
        SITE, bytes("Live", (entry) => entry.live),
        {label: "Change", number: true, get: (entry) => entry.change, text: known(format.bytes), over: true},
        BLOCKS_THEN, KIND, HELD
      ]
    },
    {
      id: "peak",
      label: "Peak",
      stack: true,
      sort: 1,
      empty: "Nothing was allocated.",
      entries: peakEntries,
      columns: [SITE, bytes("Bytes", (entry) => entry.bytes), BLOCKS_THEN, KIND, HELD]
    },
    {
      id: "hotspots",
      label: "Hotspots",
      whole: true,
      stack: true,
      sort: 1,
      empty: "Nothing was allocated.",
      entries: (data, view) => rowsWhere(data, view, (row) => data.rows.allocations[row] > 0),
      columns: [
        SITE, count("Allocations", figure("allocations")), bytes("Bytes", figure("allocated_bytes")),
        count("Frees", figure("frees")), KIND
      ]
    },
    {
      id: "temporaries",
      label: "Temporaries",
      whole: true,
      stack: true,
      sort: 1,
      empty: "No block was freed as its thread's next step.",
      entries: (data, view) => rowsWhere(data, view, (row) => data.rows.temporaries[row] > 0),
      columns: [
        SITE, count("Temporaries", figure("temporaries")), count("Allocations", figure("allocations")), {
          label: "Share",
          number: true,
          get: (entry, data) => data.rows.temporaries[entry.row] / data.rows.allocations[entry.row],
          text: (share) => format.percent(share, 1)
        },
        KIND
      ]
    },
    {
      id: "sizes",
      label: "Sizes",
      ofProcesses: true,
      whole: true,
      sort: 0,
      up: true,
      chart: true,
      empty: "Nothing was allocated.",
      entries: sizesEntries,
      columns: [
        bytes("Up to", (entry) => entry.upTo), count("Allocations", (entry) => entry.allocations, {bar: true}),
        bytes("Bytes", (entry) => entry.bytes)
      ]
    },
    {
      id: "python",
      label: "Python",
      whole: true,
      stack: true,
      sort: 1,
      empty: "No Python objects: record with heaptide run --py.",
      entries: (data, view) => {
        const passes = figures.filterOf(data, view);
        return data.python.filter((entry) => passes(entry.row));
      },
      columns: [
        SITE, bytes("Live", (entry) => entry.live_bytes),
        {label: "Types", get: (entry) => format.types(entry.types), text: String, roomy: true},
        {label: "Lost", get: (entry) => (entry.leaked ? "lost" : ""), text: String},
        count("Objects", (entry) => entry.live_blocks),
        {label: "At peak", number: true, get: (entry) => entry.peak_bytes, text: known(format.bytes)},
        count("Allocations", (entry) => entry.allocations), HELD
      ]
    },
    {
      id: "gpu",
      label: "GPU",
      ofProcesses: true,
      whole: true,
      sort: 3,
      empty: "No GPU memory was recorded.",
      entries: gpuEntries,
      columns: [
        {label: "What", get: (entry) => entry.what, text: String},
        {label: "Name", wide: true, get: (entry) => entry.name, text: String},
        {label: "Device", number: true, get: (entry) => entry.device, text: known(String)},
        {label: "Live", number: true, get: (entry) => entry.live, text: known(format.bytes)},
        {label: "Peak", number: true, get: (entry) => entry.peak, text: known(format.bytes)},
        {label: "Allocations", number: true, get: (entry) => entry.allocations, text: known(format.count)},
        {label: "Allocated at", get: (entry) => entry.site, text: String},
        {label: "Held by", get: (entry) => entry.held, text: String}
      ]
    },
    {
      id: "callers",
      label: "Callers",
      sort: 2,
      empty: "Choose a function: its callers and callees stand here.",
      entries: callerEntries,
      columns: [
        {label: "Function", wide: true, get: groupText, text: String},
        {label: "Is", get: (entry) => entry.relation, text: String}, {
          label: "Weight",
          number: true,
          get: (entry) => entry.value,
          text: (value, entry) => figures.textOf(entry.mode, value)
        }
      ]
    },
    {
      id: "threads",
      label: "Threads",
      ofProcesses: true,
      whole: true,
      sort: 2,
      empty: "No thread allocated.",
      entries: threadEntries,
      columns: [
        {
          label: "Name",
          wide: true,
          get: (entry) => entry.name || (entry.tid === null ? "[ended threads]" : ""),
          text: String
        },
        {label: "Thread", number: true, get: (entry) => entry.tid, text: known(String)},
        count("Allocations", (entry) => entry.allocations), PROCESS
      ]
    },
    {
      id: "marks",
      label: "Marks",
      ofProcesses: true,
      sort: 2,
      empty: "The program made no marks: heaptide help marks.",
      entries: markEntries,
      columns: [
        {label: "Name", wide: true, get: (entry) => entry.mark.name, text: String},
        count("Times", (entry) => entry.mark.count), {
          label: "Growth each",
          number: true,
          get: (entry) => entry.mark.growth,
          text: known((bytes) => (bytes > 0 ? "+" : "") + format.bytes(bytes))
        },
        {label: "First", number: true, get: (entry) => entry.mark.first, text: format.seconds},
        bytes("Live, first", (entry) => entry.mark.firstLive),
        {label: "Last", number: true, get: (entry) => entry.mark.last, text: format.seconds},
        bytes("Live, last", (entry) => entry.mark.lastLive), PROCESS
      ]
    },
  ];

  const tableOf = (id) => TABLES.find((table) => table.id === id) || TABLES[0];

  /** What is not known is less than anything. */
  function numbersCompare(a, b) {
    if (a === null || b === null) return (a !== null) - (b !== null);
    return a - b;
  }

  /** A table in order: {table, sort, columns, entries, cellsOf(entry): its raw values by column}. */
  function make(data, view, weights) {
    const table = tableOf(view.tab);
    const sort = view.sort && view.sort.column < table.columns.length ?
      {column: Number(view.sort.column), up: view.sort.up} :
      {column: table.sort, up: Boolean(table.up)};
    const columns = table.columns.filter((column) => (view.range ? !column.notOver : !column.over));
    const entries = table.entries(data, view, weights);
    const at = Math.min(sort.column, columns.length - 1);
    for (const entry of entries) entry.sortKey = columns[at].get(entry, data, view);
    const compare = columns[at].number ? numbersCompare : new Intl.Collator("en").compare;
    const sign = sort.up ? 1 : -1;
    entries.sort((a, b) => sign * compare(a.sortKey, b.sortKey) || (a.row ?? 0) - (b.row ?? 0));
    const cellsOf = (entry) => columns.map((column) => column.get(entry, data, view));
    return {table, sort: {column: at, up: sort.up}, columns, entries, cellsOf};
  }

  return {TABLES, tableOf, make, placeText};
})();
