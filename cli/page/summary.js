/* The figures of the chosen processes: tiles at the top, everything in the dialog of the run. */
const summary = (() => {
  const make = dom.make;
  const total = (processes, get) => processes.reduce((sum, process) => sum + get(process), 0);

  function growthOf(processes) {
    const verdicts = processes.flatMap((process) => [process.growth.cpu, process.growth.device]);
    const failed = verdicts.find((one) => one.verdict === "fail");
    const passed = verdicts.find((one) => one.verdict === "pass");
    return failed || passed || verdicts[0];
  }

  /** Python's losses are no finding and in no summary, but nobody would call a run with them lossless. */
  function leakedTile(processes, get) {
    const unknown = processes.filter((process) => process.summary.leaked_blocks === null).length;
    const direct = get("leaked_direct_bytes");
    const all = direct + get("leaked_indirect_bytes");
    const lost = total(processes, (process) => process.pythonLostBytes);
    const parts = [
      all ? `${format.count(get("leaked_blocks"))} blocks, ${format.bytes(direct)} direct` : "",
      lost ? `${format.bytes(lost)} lost in Python` : ""
    ];
    return {
      id: "leaked",
      label: "Leaked",
      value: unknown === processes.length ? "?" : format.bytes(all),
      exact: all,
      note: parts.filter(Boolean).join(", ") || (unknown ? "not looked for" : "nothing lost"),
      mood: all         ? "bad" :
        lost || unknown ? "" :
                          "good",
      mode: "leaked",
      tab: all || !lost ? "leaks" : "python"
    };
  }

  function growthTile(processes) {
    const {verdict, why} = growthOf(processes);
    const mood = {fail: "bad", pass: "good"}[verdict];
    return {
      id: "growth",
      label: "Growth",
      value: verdict,
      exact: verdict,
      note: why,
      mood,
      mode: "growth",
      tab: "growth"
    };
  }

  /** Peaks of several processes are not of one moment: they do not add up. */
  function peakTile(processes) {
    const {summary: own, name} =
      processes.reduce((best, process) => process.summary.peak_bytes > best.summary.peak_bytes ? process : best);
    const several = processes.length > 1;
    return {
      id: "peak",
      label: several ? "Highest peak" : "Peak",
      value: format.bytes(own.peak_bytes),
      exact: own.peak_bytes,
      note: several ? name : `at ${format.seconds(own.peak_seconds)}`,
      mode: "peak",
      tab: "peak"
    };
  }

  function liveTile(get) {
    const live = get("live_bytes");
    return {
      id: "live",
      label: "Live at end",
      value: format.bytes(live),
      exact: live,
      note: "not freed",
      mode: "live",
      tab: "live"
    };
  }

  function allocationsTile(processes, get) {
    const allocations = get("allocations");
    const seconds = total(processes, (process) => process.seconds);
    return {
      id: "allocations",
      label: "Allocations",
      value: format.count(allocations),
      exact: allocations,
      note: seconds ? `${format.count(Math.round(allocations / seconds))} a second` : "",
      mode: "allocations",
      tab: "hotspots"
    };
  }

  function temporariesTile(get) {
    const temporaries = get("temporaries");
    return {
      id: "temporaries",
      label: "Temporaries",
      value: format.count(temporaries),
      exact: temporaries,
      note: `${format.percent(temporaries, get("allocations"))} of allocations`,
      mode: "temporaries",
      tab: "temporaries"
    };
  }

  function rssTile(processes) {
    const rss = processes.reduce((most, process) => Math.max(most, process.summary.peak_rss_bytes || 0), 0);
    return {
      id: "rss",
      label: "Peak RSS",
      value: rss ? format.bytes(rss) : "unknown",
      exact: rss,
      note: "resident, all of it",
      mode: null,
      tab: null
    };
  }

  /** {id, label, value, exact, note, mood, mode, tab} of each tile. */
  function tilesOf(processes) {
    const get = (name) => total(processes, (process) => process.summary[name]);
    return [
      leakedTile(processes, get), growthTile(processes), peakTile(processes), liveTile(get),
      allocationsTile(processes, get), temporariesTile(get), rssTile(processes)
    ];
  }

  /**
   * `choose({mode, tab})` is called for a tile that stands for a view. `unfollowed`: the filters, in words, that are
   * set and that do not reach what is known of whole processes.
   */
  function tilesShow(processes, choose, unfollowed) {
    dom.byId("tiles-note").hidden = !unfollowed;
    dom.byId("tiles-note").textContent = `Of whole processes: not filtered by ${unfollowed}.`;
    dom.byId("tiles").replaceChildren(...tilesOf(processes).map(
      (tile) => make(
        "button", {
          type: "button",
          class: `tile panel ${tile.mood || ""}`,
          "data-tile": tile.id,
          "data-exact": String(tile.exact),
          title: tile.note,
          onclick: () => tile.mode && choose({mode: tile.mode, tab: tile.tab, sort: null})
        },
        make("span", {}, tile.label), make("b", {}, tile.value), make("span", {}, tile.note))));
  }

  function reasonText(process) {
    return process.signal ? `${process.reason} ${process.signal}` : process.reason;
  }

  /** One line on what ran. */
  function runShow(data) {
    const main = data.processes[0];
    const command = main.argv.length ? main.argv.join(" ") : main.exe;
    const more = data.processes.length - 1;
    dom.byId("run-name").textContent = format.shortened(command, 300);
    dom.byId("run-name").title = format.shortened(command, 4000);
    dom.byId("estimated").hidden = !data.processes.some((process) => process.estimated);
    dom.byId("run-facts").textContent = `pid ${main.pid}, ${reasonText(main)}, ${format.seconds(main.seconds)}${
      more ? `, and ${more} more process${more > 1 ? "es" : ""}` : ""}`;
    document.title = `${format.shortened(command, 80)} – heaptide`;
    const notes = total(data.processes, (process) => process.notes.length);
    dom.byId("note-count").textContent = notes ? String(notes) : "";
    dom.byId("note-count").title = "notes on what was not seen";
  }

  function factsTable(process) {
    const {summary: own} = process;
    const lines = [
      ["program", process.exe],
      ["command", process.argv.join(" ")],
      ["started", process.started],
      ["ended by", reasonText(process)],
      ["run time", format.seconds(process.seconds)],
      ["figures", process.estimated ? "estimated from a sample of the heap's blocks (--sample)" : "exact"],
      [
        "allocations",
        `${format.count(own.allocations)}, ${format.count(own.frees)} frees, ${
          format.count(own.temporaries)} temporaries`
      ],
      ["peak", `${format.bytes(own.peak_bytes)} at ${format.seconds(own.peak_seconds)}`],
      ["live at end", format.bytes(own.live_bytes)],
      [
        "leaked",
        own.leaked_blocks === null ?
          "not looked for" :
          `${format.bytes(own.leaked_direct_bytes)} direct, ${format.bytes(own.leaked_indirect_bytes)} indirect, ${
            format.count(own.leaked_blocks)} blocks`
      ],
      ["growth", `${process.growth.cpu.verdict}: ${process.growth.cpu.why}`],
      ["heaptide's own", `${format.bytes(process.own_bytes)}, in no figure above`],
      ...Object.entries(own.by_kind)
        .filter(([, kind]) => kind.allocations)
        .map(
          ([name, kind]) =>
            [name,
             `${format.bytes(kind.live_bytes)} live, ${format.bytes(kind.peak_bytes)} at its peak, ${
               format.count(kind.allocations)} allocations of ${format.bytes(kind.allocated_bytes)}`]),
    ];
    if (process.rank !== null) lines.unshift(["rank", String(process.rank)]);
    return make(
      "table", {class: "facts"},
      make(
        "tbody", {},
        ...lines.map(
          ([label, value]) => make("tr", {}, make("th", {}, label), make("td", {}, format.shortened(value, 2000))))));
  }

  function about(data) {
    const parts =
      data.processes
        .flatMap(
          (process) =>
            [make("h3", {}, process.name),
             factsTable(process),
             process.notes.length ? make("ul", {}, ...process.notes.map((note) => make("li", {}, note))) : null,
    ]).filter(Boolean);
    const damaged = data.facts.damaged ?
      make("p", {}, `${data.facts.damaged} damaged files of the folder are not in this page.`) :
      null;
    menu.dialog(
      "This run", ...[damaged].filter(Boolean), ...parts,
      make("p", {class: "where"}, `heaptide ${data.facts.version}, from ${data.facts.folder}`));
  }

  return {growthOf, tilesOf, tilesShow, runShow, about};
})();
