/* Which rows count: process, rank, thread, the function that a thread runs, kinds of memory. */
const filters = (() => {
  const ENTRIES = 200;  // offered; more threads' functions than that are no help
  const make = dom.make;

  const LABEL_LIMIT = 60;

  /** `options`: [value, label, title]; with a title the label is short enough. */
  function optionsPut(select, options) {
    select.replaceChildren(...options.map(
      ([value, label, title]) =>
        make("option", {value, title}, title === undefined ? format.shortened(label, LABEL_LIMIT) : label)));
  }

  /** The functions that threads run, those with most rows first. */
  function entriesOf(data) {
    const counts = new Map();
    for (let row = 0; row < data.rows.recorded; row++) {
      const entry = data.entries[data.rows.node[row]];
      if (entry >= 0) counts.set(entry, (counts.get(entry) || 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1]).slice(0, ENTRIES).map(([entry]) => entry);
  }

  /** Without threads of their own, sites are told apart by the function that a thread runs. */
  const hasThreads = (data) => data.threads.choices.length > 0;

  const readNumber = (select) => (select.value === "" ? null : Number(select.value));

  function start(data) {
    const process = dom.byId("process");
    const rank = dom.byId("rank");
    const thread = dom.byId("thread");
    const entry = dom.byId("entry");
    const ranks =
      [...new Set(data.processes.map((one) => one.rank).filter((one) => one !== null))].sort((a, b) => a - b);
    optionsPut(
      process,
      [["", "all"], ...data.processes.map((one) => [String(one.index), one.name + (one.main ? " (main)" : "")])]);
    optionsPut(rank, [["", "all"], ...ranks.map((one) => [String(one), String(one)])]);
    optionsPut(
      entry, [["", "all"], ...entriesOf(data).map((one) => [String(one), data.frames.name(data.groups.first[one])])]);
    optionsPut(thread, [["", "all"], ...data.threads.choices.map(({label, title}, i) => [String(i), label, title])]);
    dom.byId("thread-label").hidden = !hasThreads(data);
    dom.byId("entry-word").textContent = hasThreads(data) ? "Runs" : "Thread";
    dom.byId("process-label").hidden = data.processes.length < 2;
    dom.byId("rank-label").hidden = ranks.length === 0;
    process.onchange = () => view.change({process: readNumber(process), rank: null, zoom: [], pin: null});
    rank.onchange = () => view.change({rank: readNumber(rank), process: null, zoom: [], pin: null});
    thread.onchange = () => view.change({thread: readNumber(thread), zoom: [], pin: null});
    entry.onchange = () => view.change({entry: readNumber(entry), zoom: [], pin: null});
    kindsMake(data);
  }

  function kindsMake(data) {
    const used = model.KINDS.filter((kind) => data.processes.some((one) => one.summary.by_kind[kind].allocations > 0));
    dom.byId("kinds").replaceChildren(...used.map(
      (kind) => make(
        "label", {}, make("input", {type: "checkbox", value: kind, onchange: kindsTake}),
        make("i", {class: "swatch", "data-kind": kind}), kind)));
  }

  function kindsTake() {
    const off = [...dom.byId("kinds").querySelectorAll("input")].filter((box) => !box.checked).map((box) => box.value);
    view.change({withoutKinds: off});
  }

  function show(state) {
    dom.byId("process").value = state.process === null ? "" : String(state.process);
    dom.byId("rank").value = state.rank === null ? "" : String(state.rank);
    dom.byId("thread").value = state.thread === null ? "" : String(state.thread);
    dom.byId("entry").value = state.entry === null ? "" : String(state.entry);
    for (const box of dom.byId("kinds").querySelectorAll("input"))
      box.checked = !state.withoutKinds.includes(box.value);
    for (const mark of dom.byId("kinds").querySelectorAll("i")) mark.style.background = theme.kind(mark.dataset.kind);
  }

  /** The next process, `step` of 1 or -1; after the last comes all. */
  function processStep(data, step) {
    const count = data.processes.length + 1;
    const at = view.get().process === null ? 0 : view.get().process + 1;
    const next = (at + step + count) % count;
    view.change({process: next === 0 ? null : next - 1, rank: null, zoom: [], pin: null});
  }

  /** The next thread, as processes. */
  function threadStep(data, step) {
    const count = data.threads.choices.length + 1;
    if (count === 1) return dom.say("threads were not kept apart: heaptide run --per-thread");
    const at = view.get().thread === null ? 0 : view.get().thread + 1;
    const next = (at + step + count) % count;
    view.change({thread: next === 0 ? null : next - 1, zoom: [], pin: null});
  }

  /** In words the filters that are set and that go by sites: what is known of whole processes cannot follow them. */
  function bySiteWords(data, state) {
    const entry = state.entry !== null;
    const set = [
      ["thread", state.thread !== null || (entry && !hasThreads(data))],
      ["function", state.only !== null || (entry && hasThreads(data))], ["kind", state.withoutKinds.length > 0]
    ];
    return format.listed(set.filter(([, isSet]) => isSet).map(([word]) => word));
  }

  return {start, show, processStep, threadStep, bySiteWords};
})();
