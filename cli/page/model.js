/*
 * What was recorded, as typed arrays: frames, nodes (a stack is a node: its frame is the innermost one, the parent's
 * the next one out), rows (the sites of one kind with one stack), processes with their samples and their sites' curves.
 */
const model = (() => {
  const KINDS = ["heap", "mmap", "python", "device", "pinned", "managed"];
  const LANGUAGES = ["native", "python", "jit", "none"];
  const FRAME = {RUNTIME: 4, OFFSET: 8, PROCESS: 16};
  const ROW = {ARENA: 1, RESIDUE: 2, SUPPRESSED: 4, REST: 8};
  const REST_NAME = "[small sites, not recorded over time]";
  const FIGURES = [
    "allocations", "frees", "temporaries", "allocated_bytes", "live_bytes", "live_blocks", "peak_bytes", "peak_blocks",
    "direct_bytes", "direct_blocks", "indirect_bytes", "indirect_blocks"
  ];

  const ints = (values) => Int32Array.from(values);

  function framesOf(texts, columns) {
    const frames = {texts};
    for (const name of ["function", "file", "module", "line", "column", "flags"])
      frames[name] = ints(columns[`frame_${name}`]);
    frames.offset = columns.frame_offset;
    frames.count = frames.function.length;
    frames.language = (frame) => LANGUAGES[frames.flags[frame] & 3];
    frames.isRuntime = (frame) => (frames.flags[frame] & FRAME.RUNTIME) !== 0;
    frames.isProcess = (frame) => (frames.flags[frame] & FRAME.PROCESS) !== 0;
    frames.functionText = (frame) => texts[frames.function [frame]];
    frames.fileText = (frame) => texts[frames.file[frame]];
    frames.moduleText = (frame) => texts[frames.module[frame]];
    frames.name = (frame) => {
      if (frames.function [frame]) return frames.functionText(frame);
      if (frames.flags[frame] & FRAME.OFFSET)
        return `[${format.fileName(frames.moduleText(frame)) || "unknown"}+0x${frames.offset[frame].toString(16)}]`;
      return "[unknown]";
    };
    frames.place = (frame) => {
      const file = frames.fileText(frame);
      return file && frames.line[frame] ? `${file}:${frames.line[frame]}` : file;
    };
    return frames;
  }

  /** One frame and one node more for each process: what its small sites held, which have no curves of their own. */
  function withRestNodes(data) {
    const {columns, texts, facts} = data;
    texts.push(REST_NAME);
    const frame = columns.frame_function.length;
    const grown = (name, values) => {
      const longer = new Float64Array(columns[name].length + values.length);
      longer.set(columns[name]);
      longer.set(values, columns[name].length);
      columns[name] = longer;
    };
    const fresh = {function: texts.length - 1, file: 0, module: 0, line: 0, column: 0, flags: 3, offset: 0};
    for (const [name, value] of Object.entries(fresh)) grown(`frame_${name}`, [value]);
    const first = columns.node_up.length + 1;
    grown("node_up", facts.processes.map((process, i) => first + i - process.root_node));
    grown("node_frame", facts.processes.map(() => frame));
    return first;
  }

  function nodesOf(columns) {
    const count = columns.node_up.length + 1;
    const nodes = {
      count,
      parent: new Int32Array(count),
      frame: new Int32Array(count),
      firstChild: new Int32Array(count),
      nextSibling: new Int32Array(count),
      isSite: new Uint8Array(count),
    };
    nodes.frame[0] = -1;
    for (let i = 1; i < count; i++) {
      nodes.parent[i] = i - columns.node_up[i - 1];
      nodes.frame[i] = columns.node_frame[i - 1];
    }
    for (let i = count - 1; i > 0; i--) {
      nodes.nextSibling[i] = nodes.firstChild[nodes.parent[i]];
      nodes.firstChild[nodes.parent[i]] = i;
    }
    return nodes;
  }

  /** Rows as recorded, and behind them six for each process: its rest by kind, which only have figures over time. */
  function rowsOf(data, firstRestNode) {
    const {columns, texts, facts} = data;
    const recorded = columns.row_node.length;
    const count = recorded + facts.processes.length * KINDS.length;
    const rows = {count, recorded, heldBy: new Array(count)};
    for (const name of ["process", "node", "site", "kind", "flags"]) {
      rows[name] = new Int32Array(count);
      rows[name].set(columns[`row_${name}`]);
    }
    for (const name of FIGURES) {
      rows[name] = new Float64Array(count);
      rows[name].set(columns[`row_${name}`]);
    }
    for (let i = recorded; i < count; i++) {
      rows.process[i] = Math.floor((i - recorded) / KINDS.length);
      rows.kind[i] = (i - recorded) % KINDS.length;
      rows.node[i] = firstRestNode + rows.process[i];
      rows.site[i] = 1;
      rows.flags[i] = ROW.REST;
    }
    for (let i = 0, at = 0; i < recorded; i++) {
      const held = columns.row_held[i];
      if (held) rows.heldBy[i] = Array.from(columns.held_text.subarray(at, at + held), (text) => texts[text]);
      at += held;
    }
    rows.types = typesOf(columns, texts, recorded, "");
    rows.lostTypes = typesOf(columns, texts, recorded, "lost_");
    rows.restOf = (process, kind) => recorded + process * KINDS.length + kind;
    rows.isSuppressed = (row) => (rows.flags[row] & ROW.SUPPRESSED) !== 0;
    rows.isRest = (row) => (rows.flags[row] & ROW.REST) !== 0;
    return rows;
  }

  /** By row: the types of its Python objects, largest first, null: not known. `which`: "", or "lost_" of those. */
  function typesOf(columns, texts, count, which) {
    const types = new Array(count).fill(null);
    for (let row = 0, at = 0; row < count; row++) {
      const own = columns[`row_${which}types`][row];
      if (own)
        types[row] = Array.from({length: own}, (_, i) => ({
                                                 type: texts[columns[`${which}type_text`][at + i]],
                                                 blocks: columns[`${which}type_blocks`][at + i],
                                                 bytes: columns[`${which}type_bytes`][at + i]
                                               }));
      at += own;
    }
    return types;
  }

  function siteNode(rows, nodes, row) {
    let node = rows.node[row];
    for (let depth = 1; depth < rows.site[row]; depth++) node = nodes.parent[node];
    return rows.site[row] ? node : 0;
  }

  function cut(values, at, count) {
    return values.subarray(at, at + count);
  }

  function processesOf({facts, columns, texts}) {
    const at = {row: 0, sample: 0, call: 0, mark: 0, point: 0, curve: 0, value: 0};
    const begin = facts.processes.reduce((first, process) => Math.min(first, process.started_ns), Infinity);
    return facts.processes.map((process, index) => {
      const {row_count, sample_count, call_count, mark_count, point_count, curve_count} = process;
      const made = {
        ...process,
        index,
        pythonLostBytes: 0,
        name: `${format.fileName(process.exe)} ${process.pid}`,
        start: (process.started_ns - begin) / 1e9,
        firstRow: at.row,
        endRow: at.row + row_count,
        sampleAt: cut(columns.sample_at_ns, at.sample, sample_count).map((ns) => ns / 1e9),
        samples: KINDS.map((kind) => cut(columns[`sample_${kind}`], at.sample, sample_count)),
        rss: cut(columns.sample_rss, at.sample, sample_count),
        allocations: call_count ? cut(columns.sample_allocations, at.call, call_count) : null,
        temporaries: call_count ? cut(columns.sample_temporaries, at.call, call_count) : null,
        markAt: cut(columns.mark_at_ns, at.mark, mark_count).map((ns) => ns / 1e9),
        markName: Array.from(cut(columns.mark_name, at.mark, mark_count), (text) => texts[text]),
        markLive: cut(columns.mark_live, at.mark, mark_count),
        pointAt: cut(columns.point_at_ns, at.point, point_count).map((ns) => ns / 1e9),
        curves: new Map(),
      };
      made.end = made.start + process.seconds;
      for (let i = 0; i < curve_count; i++)
        made.curves.set(
          columns.curve_row[at.curve + i], cut(columns.curve_bytes, at.value + i * point_count, point_count));
      at.row += row_count;
      at.sample += sample_count;
      at.call += call_count;
      at.mark += mark_count;
      at.point += point_count;
      at.curve += curve_count;
      at.value += curve_count * point_count;
      return made;
    });
  }

  function pythonOf(columns, rows) {
    return Array.from(
      columns.python_row, (row, i) => ({
                            row,
                            leaked: columns.python_leaked[i] === 1,
                            live_bytes: columns.python_live_bytes[i],
                            live_blocks: columns.python_live_blocks[i],
                            allocations: columns.python_allocations[i],
                            peak_bytes: columns.python_peak_bytes[i] ? columns.python_peak_bytes[i] - 1 : null,
                            types: columns.python_leaked[i] === 1 ? rows.lostTypes[row] : rows.types[row],
                          }));
  }

  /**
   * Frames that are one box: with `byLine` those of one line, else those of one function. A frame without a name stays
   * alone.
   */
  function groupsOf(frames, byLine) {
    const of = new Int32Array(frames.count);
    const first = [];
    const line = [];
    const known = new Map();
    for (let frame = 0; frame < frames.count; frame++) {
      const named = frames.function [frame];
      const key =
        byLine || !named ? -1 - frame : `${named},${frames.file[frame]},${frames.module[frame]},${frames.flags[frame]}`;
      let group = known.get(key);
      if (group === undefined) {
        group = first.length;
        known.set(key, group);
        first.push(frame);
        line.push(frames.line[frame]);
      } else if (line[group] !== frames.line[frame])
        line[group] = 0;
      of[frame] = group;
    }
    return {of, first, line, count: first.length};
  }

  /** The group of the outermost frame of each node's stack that is no runtime's: what its thread runs. */
  function entriesOf(frames, nodes, groups) {
    const entries = new Int32Array(nodes.count).fill(-1);
    for (let node = 1; node < nodes.count; node++) {
      const frame = nodes.frame[node];
      const outer = entries[nodes.parent[node]];
      const tells = !frames.isProcess(frame) && (!frames.isRuntime(frame) || frames.language(frame) === "none");
      entries[node] = outer >= 0 ? outer : tells ? groups.of[frame] : -1;
    }
    return entries;
  }

  /** nodesWith(name): by node, 1 where a function of that name is in its stack. The last name's are kept. */
  function nodesWithOf(frames, nodes) {
    let kept = {name: null, hits: null};
    return (name) => {
      if (kept.name === name) return kept.hits;
      const ofFrame = Uint8Array.from({length: frames.count}, (_, frame) => (frames.name(frame) === name ? 1 : 0));
      const hits = new Uint8Array(nodes.count);
      for (let node = 1; node < nodes.count; node++) hits[node] = hits[nodes.parent[node]] | ofFrame[nodes.frame[node]];
      kept = {name, hits};
      return hits;
    };
  }

  function make(data) {
    const firstRestNode = withRestNodes(data);
    const frames = framesOf(data.texts, data.columns);
    const nodes = nodesOf(data.columns);
    const rows = rowsOf(data, firstRestNode);
    for (let row = 0; row < rows.count; row++) nodes.isSite[siteNode(rows, nodes, row)] = 1;
    const groups = groupsOf(frames, false);
    const processes = processesOf(data);
    const python = pythonOf(data.columns, rows);
    for (const {row, leaked, live_bytes} of python)
      if (leaked) processes[rows.process[row]].pythonLostBytes += live_bytes;
    const made = {
      facts: data.facts,
      frames,
      nodes,
      rows,
      processes,
      python,
      growing: processes.flatMap((process) => process.growing.map(([row, rate]) => ({row, rate}))),
      groups,
      lineGroups: groupsOf(frames, true),
      entries: entriesOf(frames, nodes, groups),
      nodesWith: nodesWithOf(frames, nodes),
      end: processes.reduce((last, process) => Math.max(last, process.end), 0),
      siteFrame(row) {
        const node = siteNode(rows, nodes, row);
        return node ? nodes.frame[node] : -1;
      },
      /** The frames of a row's stack, leaf first. */
      stackOf(node) {
        const stack = [];
        for (; node; node = nodes.parent[node])
          if (!frames.isProcess(nodes.frame[node])) stack.push(nodes.frame[node]);
        return stack;
      },
    };
    made.threads = threads.make(data, made, FIGURES);
    return made;
  }

  return {make, KINDS};
})();
