/* The timeline on the page: dragging or arrow keys set the range that every view shows. */
const chart = (() => {
  const CLOSE = 6;   // pixels from an edge of the range that take hold of it
  const STEPS = 50;  // of the whole run, for keys
  const SPLITS =
    {kinds: "By kind", sites: "By site", deviceSites: "By GPU site", devices: "By GPU", streams: "By stream"};
  const LINES = {
    RSS: "Resident memory of the whole process, whatever it is for",
    "in use": "What the driver says is in use, the runtime's own included"
  };
  const CALLS = {
    allocations: "Allocation calls a second, in the strip below",
    temporaries: "Of them those that were freed as the thread's next step"
  };
  const LEAST = 0.002;  // of the whole run: a shorter drag was a click
  let data = null;
  let all = null;
  let drag = null;
  let hover = null;
  let drawn = null;  // the range while it is dragged

  const canvas = () => dom.byId("timeline");
  const width = () => canvas().parentElement.clientWidth;
  const height = () => dom.byId("timeline-place").clientHeight;
  const range = () => drawn || view.get().range;

  /** The mark that the mouse points at. */
  const markAt = (seconds) =>
    marks.near(all.marks, seconds, timeline.secondsOf(all, width(), timeline.xOf(all, width(), 0) + CLOSE));

  function shown() {
    const processes = timeline.processesOf(data, view.get());
    const peak = processes.length === 1 ? processes[0].summary.peak_seconds + processes[0].start : null;
    const mark = hover !== null && !drawn ? markAt(hover) : null;
    const {line, mark: markName} = view.get();
    return {range: range(), hover, mark, markName, peak, line};
  }

  function redraw() {
    timeline.draw(surface.canvas(canvas(), width(), height()), all, shown());
  }

  const text = (seconds) => `${Number(seconds.toFixed(3))} s`;

  /** Of the pixel under the mouse. */
  function callsText(seconds) {
    const span = timeline.secondsOf(all, width(), timeline.xOf(all, width(), 0) + 1);
    return all.calls ?
      `, ${calls.rateText(all.calls.allocations(seconds - span / 2, seconds + span / 2) / span)} allocations` :
      "";
  }

  function totalsText(seconds) {
    return all.areas.map((series) => [series.name, timeline.valueAt(series, seconds)])
             .filter(([, value]) => value > 0)
             .slice(0, 6)
             .map(([name, value]) => `${format.shortened(name, 30)} ${format.bytes(value)}`)
             .join(", ") ||
      "nothing";
  }

  const unplacedText = ({unplaced}) =>
    (unplaced ? `; ${format.bytes(unplaced)} leaked at sites that were not followed over time` : "");

  /** Where the sites' figures are from: exact at ends of processes and at peaks, else those of the last point. */
  function timesText(weights) {
    if (weights.wholeRun) return "of the whole run: not recorded over time";
    if (!weights.times || !view.get().range) return "";
    const rough = weights.times.filter((one) => !one.exact);
    if (!weights.times.length) return "no site was recorded by then";
    if (!rough.length) return "every site, exactly";
    const times = [...new Set(rough.map((one) => text(one.at)))];
    return `as recorded at ${times.length > 2 ? `${times.length} points` : times.join(" and ")}${
      unplacedText(weights)}`;
  }

  function rangeShow(weights) {
    const now = range();
    dom.byId("range-clear").hidden = !now;
    const place = dom.byId("range-text");
    const mark = hover !== null && !drag ? markAt(hover) : null;
    if (mark)
      say(place, marks.text(mark), `${text(mark.at)}, ${format.bytes(mark.live)} live; click: until the next`);
    else if (hover !== null && !drag)
      say(place, text(hover), totalsText(hover) + callsText(hover));
    else if (now)
      say(place, `${text(now[0])} to ${text(now[1])}`, `at its end ${totalsText(now[1])}`);
    else
      say(place, "", "Drag over a range: every view shows it");
    dom.byId("range-times").textContent = timesText(weights);
  }

  function say(place, time, rest) {
    place.replaceChildren(dom.make("b", {}, time), ` ${rest}`);
    place.title = place.textContent;
  }

  function legendShow() {
    const mark = (color) => {
      const swatch = dom.make("i", {class: "swatch"});
      swatch.style.background = color;
      return swatch;
    };
    const items = all.areas.map(
      (series) => dom.make(
        "span", {title: format.shortened(series.name, 400)}, mark(series.color), format.shortened(series.name, 28)));
    if (all.line) items.push(lineButton());
    if (all.calls)
      for (const [name, color] of Object.entries(calls.colors()))
        items.push(dom.make("span", {title: CALLS[name]}, mark(color), name));
    if (figures.isBySite(view.get()))
      items.push(dom.make("span", {title: "Allocations and RSS are not known by site"}, "sites that were followed"));
    dom.byId("series-legend").replaceChildren(...items);
    dom.byId("series").textContent = SPLITS[all.by];
  }

  function lineButton() {
    const shown = timeline.hasLine(all, view.get().line);
    return dom.make(
      "button", {
        type: "button",
        class: "plain",
        "aria-pressed": String(shown),
        title: LINES[all.line.label],
        onclick: () => view.change({line: !shown}, true)
      },
      dom.make("i", {class: "swatch thin"}), all.line.label);
  }

  let weightsNow = null;
  function show(state, weights) {
    weightsNow = weights;
    all = timeline.seriesOf(data, state);
    legendShow();
    rangeShow(weights);
    redraw();
  }

  // ---- the mouse

  const secondsAt = (event) => timeline.secondsOf(all, width(), event.clientX - canvas().getBoundingClientRect().left);

  /** What a press takes hold of: an edge of the range, or a new range from there. */
  function dragStart(event) {
    if (event.button !== 0) return;
    const now = view.get().range;
    const x = event.clientX - canvas().getBoundingClientRect().left;
    const near = now ? now.findIndex((seconds) => Math.abs(timeline.xOf(all, width(), seconds) - x) <= CLOSE) : -1;
    drag = {fixed: near < 0 ? secondsAt(event) : now[1 - near], moved: false};
    canvas().setPointerCapture(event.pointerId);
  }

  function move(event) {
    hover = secondsAt(event);
    if (drag) {
      const ends = [drag.fixed, hover].sort((a, b) => a - b);
      drawn = ends[1] - ends[0] > LEAST * all.end ? ends : null;
    }
    rangeShow(weightsNow);
    redraw();
  }

  function dragEnd() {
    if (!drag) return;
    const mark = !drawn && hover !== null ? markAt(hover) : null;
    const next = drawn ? drawn.map((seconds) => Number(seconds.toFixed(6))) : mark && marks.rangeOf(mark);
    drag = null;
    drawn = null;
    if (next)
      view.change({range: next});
    else
      redraw();
  }

  function leave() {
    hover = null;
    rangeShow(weightsNow);
    redraw();
  }

  // ---- keys

  function keyTake(event) {
    const step = all.end / STEPS;
    const now = view.get().range || [0, all.end];
    const inside = (seconds) => Number(Math.min(all.end, Math.max(0, seconds)).toFixed(6));
    const moves = {
      ArrowLeft: event.shiftKey ? [now[0], now[1] - step] :
        event.altKey            ? [now[0] - step, now[1]] :
                                  [now[0] - step, now[1] - step],
      ArrowRight: event.shiftKey ? [now[0], now[1] + step] :
        event.altKey             ? [now[0] + step, now[1]] :
                                   [now[0] + step, now[1] + step],
      Home: [0, now[1]],
      End: [now[0], all.end],
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const [from, to] = moves[event.key].map(inside);
    if (to - from >= step / 2) view.change({range: from <= 0 && to >= all.end ? null : [from, to]}, true);
  }

  function start(own) {
    data = own;
    canvas().addEventListener("pointerdown", dragStart);
    canvas().addEventListener("pointermove", move);
    canvas().addEventListener("pointerup", dragEnd);
    canvas().addEventListener("pointercancel", dragEnd);
    canvas().addEventListener("pointerleave", leave);
    canvas().addEventListener("keydown", keyTake);
    dom.byId("range-clear").onclick = () => view.change({range: null});
    dom.byId("series").onclick = seriesSwitch;
  }

  /** The next iteration, or the one before. */
  function iterationStep(by) {
    const {mark: name, range} = view.get();
    const next = marks.step(name === null ? all.marks : all.marks.filter((one) => one.name === name), range, by);
    if (next)
      view.change({range: next});
    else
      dom.say(all.marks.length ? "no more of these marks" : "the program made no marks");
  }

  function seriesSwitch() {
    const splits = timeline.splitsOf(data);
    view.change({series: splits[(splits.indexOf(view.get().series) + 1) % splits.length]});
  }

  const saved = () => ({
    name: "heaptide-timeline",
    title: "Memory over time",
    width: width(),
    height: Math.max(height(), 200),
    draw: (to) => timeline.draw(to, all, {...shown(), hover: null, mark: null}),
  });

  return {start, show, redraw, seriesSwitch, iterationStep, chart: saved};
})();
