/* Puts it together: reads the data, follows the view, wires buttons and keys. */
const page = (() => {
  let data = null;
  let table = null;

  // ---- figures, made once for each view

  const WEIGHING = ["range", "process", "rank", "withoutKinds", "thread", "entry", "only"];
  const CACHE = 8;
  const cache = new Map();

  /** {key, weights} of the view in a mode. */
  function weighed(mode) {
    const state = {...view.get(), mode};
    const key = JSON.stringify([mode, ...WEIGHING.map((name) => state[name])]);
    if (!cache.has(key)) {
      if (cache.size >= CACHE) cache.delete(cache.keys().next().value);
      cache.set(key, {key, weights: figures.weigh(data, state)});
    }
    return cache.get(key);
  }

  // ---- parts that have no file of their own

  function modesShow(state) {
    dom.byId("modes").replaceChildren(...figures.MODES.map(
      (mode, i) => dom.make(
        "button", {
          type: "button",
          "data-mode": mode.id,
          "aria-pressed": String(mode.id === state.mode),
          title: `${mode.what} (${i + 1})`,
          onclick: () => view.change({mode: mode.id})
        },
        mode.label)));
  }

  const TOGGLES = [
    {
      part: "inverted",
      key: "v",
      label: "Inverted",
      what: "The allocating function at the root, its callers on top",
      shape: true
    },
    {part: "upright", key: "i", label: "Root below", what: "A flame instead of an icicle"},
    {
      part: "runtime",
      key: "r",
      label: "Runtime",
      what: "Show frames of libc, allocators, interpreters and runtimes",
      shape: true
    },
    {part: "fold", key: "f", label: "Fold recursion", what: "A function that calls itself is one box", shape: true},
    {part: "lines", key: "l", label: "Lines", what: "A box for each line instead of each function", shape: true},
    {part: "byProcess", key: "b", label: "By process", what: "Each process has a box of its own", shape: true},
  ];

  /** Lines have other group numbers: paths in the address do not carry over. */
  function toggle({part, shape}) {
    const more = part === "lines" ? {focus: null} : {};
    view.change({[part]: !view.get()[part], ...(shape ? {zoom: [], pin: null} : {}), ...more});
  }

  function togglesShow(state) {
    const useful = TOGGLES.filter(({part}) => part !== "byProcess" || data.processes.length > 1);
    dom.byId("toggles").replaceChildren(...useful.map(
      (one) => dom.make(
        "button", {
          type: "button",
          "data-part": one.part,
          "aria-pressed": String(state[one.part]),
          title: `${one.what} (${one.key})`,
          onclick: () => toggle(one)
        },
        one.label)));
  }

  function legendShow() {
    const used = Object.entries(theme.CATEGORIES).filter(([name]) => name !== "root" && name !== "other");
    dom.byId("legend").replaceChildren(...used.map(([name, {label}]) => {
      const mark = dom.make("i", {class: "swatch"});
      mark.style.background = theme.box(name, 0);
      return dom.make("span", {}, mark, label);
    }));
  }

  /** The tab that goes with each mode, so that choosing a table shows its figures in the graph too. */
  const MODE_OF_TAB = {
    leaks: "leaked",
    growth: "growth",
    live: "live",
    peak: "peak",
    hotspots: "allocations",
    temporaries: "temporaries"
  };

  const tabChoose = (id) => view.change({tab: id, sort: null, ...(MODE_OF_TAB[id] ? {mode: MODE_OF_TAB[id]} : {})});

  function tabsShow(state) {
    dom.byId("tabs").replaceChildren(...tables.TABLES.map(
      ({id, label}) => dom.make(
        "button", {
          type: "button",
          role: "tab",
          "data-tab": id,
          "aria-selected": String(id === state.tab),
          onclick: () => tabChoose(id)
        },
        label)));
  }

  function rangeNoteOf(state, table) {
    if (table.whole) return "whole run: not recorded over time";
    if (table.id === "leaks") return "what leaks rose by in the range, of sites that were followed over time";
    if (table.stack) return "of the range; sites too small to be followed are one row";
    const left = table.id === "marks" ? marks.countedOnly(timeline.processesOf(data, state)) : 0;
    return left ? `of the range; ${format.count(left)} later marks are counted by name only` : "of the range";
  }

  function noteOf(state, made) {
    const parts = [format.counted(made.entries.length, made.table.stack ? "site" : "row")];
    const {verdict, why} = summary.growthOf(timeline.processesOf(data, state));
    if (state.tab === "growth" && !state.range) parts.push(`${verdict}: ${why}`);
    if (state.tab === "callers" && state.focus !== null) {
      const groups = state.lines ? data.lineGroups : data.groups;
      parts.push(
        `of ${format.shortened(data.frames.name(groups.first[Math.min(state.focus, groups.count - 1)]), 120)}`);
    }
    if (state.range) parts.push(rangeNoteOf(state, made.table));
    const unfollowed = made.table.ofProcesses ? filters.bySiteWords(data, state) : "";
    if (unfollowed) parts.push(`not filtered by ${unfollowed}: known of whole processes only`);
    return parts.join(" · ");
  }

  function tableShow(state) {
    const made = tables.make(data, state, (mode) => weighed(mode).weights);
    table.show(made);
    dom.byId("table-note").textContent = noteOf(state, made);
    dom.byId("table-empty").hidden = made.entries.length > 0;
    dom.byId("table-empty").textContent = made.table.empty;
    sizesShow(made);
  }

  function sizesShow(made) {
    const place = dom.byId("sizes-place");
    place.hidden = !made.table.chart || made.entries.length === 0;
    if (!place.hidden)
      bars.draw(surface.canvas(dom.byId("sizes"), place.clientWidth - 12, place.clientHeight - 8), made.entries);
  }

  function themeShow(state) {
    dom.byId("theme").textContent = {auto: "Auto", light: "Light", dark: "Dark"}[state.theme];
  }

  // ---- whole

  function show(before) {
    const state = view.get();
    if (!before || before.theme !== state.theme) theme.use(state.theme);
    data.threads.use(state.thread);
    const current = weighed(state.mode);
    themeShow(state);
    filters.show(state);
    summary.tilesShow(
      timeline.processesOf(data, state), (parts) => view.change(parts), filters.bySiteWords(data, state));
    modesShow(state);
    togglesShow(state);
    legendShow();
    tabsShow(state);
    graph.show(state, current);
    chart.show(state, current.weights);
    tableShow(state);
  }

  /** The fragment may name what this report does not have, or a process that is not of the rank named. */
  function stateMend() {
    const state = view.get();
    const within = (value, count) => value === null || value < count;
    view.change(
      {
        mode: figures.modeOf(state.mode) ? state.mode : view.defaults().mode,
        tab: tables.tableOf(state.tab).id,
        process: within(state.process, data.processes.length) ? state.process : null,
        rank: state.process === null && data.processes.some((one) => one.rank === state.rank) ? state.rank : null,
        thread: within(state.thread, data.threads.choices.length) ? state.thread : null,
        entry: within(state.entry, data.groups.count) ? state.entry : null,
        focus: within(state.focus, (state.lines ? data.lineGroups : data.groups).count) ? state.focus : null,
        series: timeline.splitsOf(data).includes(state.series) ? state.series : "kinds",
        theme: ["auto", "light", "dark"].includes(state.theme) ? state.theme : "auto",
        sort: state.sort && /^\d+$/.test(state.sort.column) ? state.sort : null,
      },
      true);
  }

  function followView(before) {
    stateMend();
    dom.keepingFocus(() => show(before));
  }

  function step(list, current, by) {
    const at = list.indexOf(current);
    return list[(at + by + list.length) % list.length];
  }

  const tabStep = (by) => tabChoose(step(tables.TABLES.map(({id}) => id), view.get().tab, by));
  const themeStep = () => view.change({theme: step(["auto", "light", "dark"], view.get().theme, 1)}, true);

  function sortBy(column) {
    const {sort, columns} = table.shown();
    const up = sort.column === column ? !sort.up : !columns[column].number;
    view.change({sort: {column, up}}, true);
  }

  function sortStep() {
    const {sort, columns} = table.shown();
    sortBy((sort.column + 1) % columns.length);
  }

  function escape() {
    if (menu.close()) return;
    const state = view.get();
    if (document.activeElement.matches("input")) document.activeElement.blur();
    if (state.pin)
      view.change({pin: null}, true);
    else if (state.search)
      view.change({search: ""}, true);
    else if (state.mark !== null)
      view.change({mark: null}, true);
    else if (state.range)
      view.change({range: null});
    else if (state.zoom.length)
      view.change({zoom: []});
  }

  function exportOpen() {
    const spot = dom.byId("export").getBoundingClientRect();
    const sizes = () => ({
      name: "heaptide-sizes",
      title: "Allocations by block size",
      width: 760,
      height: 260,
      draw: (to) => bars.draw(to, tables.make(data, {...view.get(), tab: "sizes", sort: null}, null).entries)
    });
    const charts = [["Flame graph", "f", graph.chart], ["Timeline", "t", chart.chart], ["Block sizes", "b", sizes]];
    menu.open(
      [
        ...charts.flatMap(
          ([label, key, get]) =>
            [{label: `${label} as PNG`, key, action: () => output.chartSave(get(), "png")},
             {label: `${label} as SVG`, key: key.toUpperCase(), action: () => output.chartSave(get(), "svg")}]),
        {
          label: `Table ${table.shown().table.label} as CSV`,
          key: "c",
          action: () => output.csvSave(data, table.shown(), `heaptide-${view.get().tab}`)
        },
      ],
      spot.left, spot.bottom + 4);
  }

  function withBox(action) {
    return () => {
      const box = graph.box();
      if (box && box.parent)
        action(box);
      else
        dom.say("pin a box first: click it, or move with the arrow keys");
    };
  }

  const focusOn = (id) => dom.byId(id).focus();

  function keysStart() {
    keys.start([
      ...figures.MODES.map(
        (mode, i) => ({key: String(i + 1), label: mode.label, action: () => view.change({mode: mode.id})})),
      ...TOGGLES.map((one) => ({key: one.key, label: one.label, action: () => toggle(one)})),
      {key: "/", label: "Search", action: () => focusOn("search")},
      {key: "ArrowUp", shown: "← → ↑ ↓", label: "Move in the graph, the table, the range"},
      {key: "Enter z", label: "Zoom to the pinned box", action: withBox(graph.actions.zoom)},
      {key: "Backspace", label: "Zoom out by one", action: graph.zoomOut},
      {key: "0", label: "Zoom out to all", action: () => view.change({zoom: []})},
      {key: "[", label: "Back", action: () => history.back()},
      {key: "]", label: "Forward", action: () => history.forward()},
      {key: "c", label: "Copy the stack", action: withBox(graph.actions.copy)},
      {key: "w", label: "Callers and callees", action: withBox(graph.actions.callers)},
      {key: "h", label: "Hide the function", action: withBox(graph.actions.hide)},
      {key: "u", label: "Only stacks with the function: graph, tables, timeline", action: withBox(graph.actions.only)},
      {
        key: "H",
        label: "Show all stacks and functions again",
        action: () => view.change({hidden: [], only: null, zoom: [], pin: null})
      },
      {key: "s", label: "Suppress this", action: withBox(graph.actions.suppress)},
      {key: "m", label: "Menu of the pinned box", action: withBox(graph.menuByKey)},
      {key: "t", label: "Next table", action: () => tabStep(1)},
      {key: "T", label: "Table before", action: () => tabStep(-1)},
      {key: "o", label: "Sort by the next column", action: sortStep},
      {key: "O", label: "Other way round", action: () => sortBy(table.shown().sort.column)},
      {key: "g", label: "Timeline by kind, site, GPU, stream", action: chart.seriesSwitch},
      {key: "ArrowLeft", shown: "Shift+← Alt+←", label: "In the timeline: move one end of the range"},
      {
        key: ".",
        label: "Next iteration: to the next mark of a name (of the one chosen in the Marks table)",
        action: () => chart.iterationStep(1)
      },
      {key: ",", label: "Iteration before", action: () => chart.iterationStep(-1)},
      {key: "x", label: "Whole run, no range", action: () => view.change({range: null})},
      {key: "p", label: "Next process", action: () => filters.processStep(data, 1)},
      {key: "P", label: "Process before", action: () => filters.processStep(data, -1)},
      {key: "y", label: "Next thread", action: () => filters.threadStep(data, 1)},
      {key: "Y", label: "Thread before", action: () => filters.threadStep(data, -1)},
      {
        key: "k",
        label: "To the filters",
        action: () => dom.byId("filters").querySelector("label:not([hidden]) select, input").focus()
      },
      {key: "n", label: "To the timeline", action: () => focusOn("timeline")},
      {key: "j", label: "To the graph", action: () => focusOn("flame-place")},
      {key: "q", label: "To the table", action: () => focusOn("table")},
      {key: "d", label: "Light, dark, as the system", action: themeStep},
      {key: "a", label: "This run: figures and notes", action: () => summary.about(data)},
      {key: "e", label: "Export", action: exportOpen},
      {key: "Escape", label: "Close, unpin, clear search, mark and range", action: escape},
      {key: "?", label: "This list", action: keys.list},
    ]);
  }

  function splitterStart() {
    const splitter = dom.byId("splitter");
    const split = dom.byId("split");
    const set = (x) => {
      const area = split.getBoundingClientRect();
      const share = Math.min(75, Math.max(20, (100 * (area.right - x)) / area.width));
      split.style.setProperty("--side", `${share}%`);
      resize();
    };
    splitter.addEventListener("pointerdown", (event) => splitter.setPointerCapture(event.pointerId));
    splitter.addEventListener(
      "pointermove", (event) => splitter.hasPointerCapture(event.pointerId) && set(event.clientX));
    splitter.addEventListener("keydown", (event) => {
      const by = {ArrowLeft: -24, ArrowRight: 24}[event.key];
      if (by) set(splitter.getBoundingClientRect().left + by);
    });
  }

  function resize() {
    graph.layoutAndDraw();
    chart.redraw();
    tableShow(view.get());
  }

  function buttonsStart() {
    dom.byId("about").onclick = () => summary.about(data);
    dom.byId("export").onclick = exportOpen;
    dom.byId("theme").onclick = themeStep;
    dom.byId("help").onclick = keys.list;
    const input = dom.byId("search");
    input.oninput = () => view.change({search: input.value}, true);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") focusOn("flame-place");
    });
    window.addEventListener("resize", resize);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      theme.use(view.get().theme);
      show(view.get());
    });
  }

  // No program in Python is free of cycles that the collector has not come to yet.
  const PYTHON_LOST_BYTES = 65536;

  /** What to look at first: leaks where there are any. */
  function defaultsOf() {
    const some = (get, over) => data.processes.some((one) => get(one) > over);
    if (some((one) => one.summary.leaked_blocks, 0)) return {mode: "leaked", tab: "leaks"};
    if (some((one) => one.pythonLostBytes, PYTHON_LOST_BYTES)) return {mode: "leaked", tab: "python"};
    return {mode: "peak", tab: "peak"};
  }

  // Marks of a name stand out in the timeline; entered, they are the range.
  const markChoose = ({name}) => view.change({mark: view.get().mark === name ? null : name}, true);

  function markEnter(mark) {
    const range = marks.rangeOfName(mark);
    if (range)
      view.change({mark: mark.name, range});
    else
      dom.say("this mark stands at the end of its process");
  }

  /** Does what a row of a table is for: a site's, a mark's, a function's. */
  function entryTake(entry, onRow, onMark) {
    if (entry.row !== undefined)
      onRow(entry.row);
    else if (entry.mark)
      onMark(entry.mark);
    else if (entry.group >= 0)
      view.change({focus: entry.group});
  }

  function tableStart() {
    table = tableView.make(dom.byId("table"), data, {
      sort: sortBy,
      choose: (entry) => entryTake(entry, graph.rowChoose, markChoose),
      enter: (entry) => entryTake(entry, graph.rowEnter, markEnter),
      menu: (entry, x, y) => entry.row !== undefined && graph.rowMenu(entry.row, x, y),
      isChosen: (entry) =>
        (entry.mark ? entry.mark.name === view.get().mark : entry.row !== undefined && graph.isPinned(entry.row)),
      isFound: (entry) => entry.row !== undefined && graph.isFound(entry.row),
    });
  }

  async function start() {
    try {
      data = model.make(await payload.read());
    } catch (error) {
      dom.byId("loading").textContent = `This page cannot be shown: ${error.message}. A newer browser may do.`;
      throw error;
    }
    view.start(defaultsOf(), followView);
    theme.use(view.get().theme);
    summary.runShow(data);
    filters.start(data);
    graph.start(data);
    chart.start(data);
    tableStart();
    menu.start();
    keysStart();
    buttonsStart();
    splitterStart();
    stateMend();
    show(null);
    dom.byId("loading").hidden = true;
  }

  /** For tests and the browser's console: what the page shows, as numbers. */
  const inside = {
    data: () => data,
    view,
    weighed,
    table: () => table.shown(),
    graph,
    tree,
    output,
    timeline,
    theme,
    redraw: () => graph.layoutAndDraw(),
    placeOf: graph.placeOfName,
  };
  return {start, inside};
})();
window.heaptidePage = page.inside;
page.start().then(() => document.documentElement.setAttribute("data-ready", ""));
