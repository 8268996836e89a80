/* Memory over time, by kind or by site; a dragged range is what every view shows. */
const timeline = (() => {
  const LEFT = 66;
  const RIGHT = 12;
  const TOP = 8;
  const BOTTOM = 20;
  const LINE_MOST = 6;  // times the highest total
  const SITES = 10;     // shown of the sites; the rest is one area

  /** The processes that a view shows. */
  const processesOf = (data, view) => data.processes.filter(
    (process) =>
      (view.process === null || process.index === view.process) && (view.rank === null || process.rank === view.rank));

  /** Step functions of several processes added up: {at, values} of `read(process)` = {at, values, start, end}. */
  function stepsAdd(curves) {
    const events = [];
    for (const {at, values, start, end} of curves) {
      let last = 0;
      at.forEach((seconds, i) => {
        const value = values[i] ?? 0;  // of drivers, what is not known
        events.push([seconds + start, value - last]);
        last = value;
      });
      if (curves.length > 1) events.push([end, -last]);
    }
    if (curves.length > 1) events.sort((a, b) => a[0] - b[0]);
    const times = [];
    const sums = [];
    let sum = 0;
    for (const [seconds, change] of events) {
      sum += change;
      if (times.length && times[times.length - 1] === seconds)
        sums[sums.length - 1] = sum;
      else {
        times.push(seconds);
        sums.push(sum);
      }
    }
    return {at: times, values: sums};
  }

  /** What a process held of a kind. */
  const wholeCurve = (process, index) => ({at: process.sampleAt, values: process.samples[index]});

  /** The same of its sites that pass, of those that were followed over time; at its end all are known. */
  function passingCurve(data, process, index, passes) {
    const {rows} = data;
    const values = new Float64Array(process.pointAt.length + 1);
    for (const [row, bytes] of process.curves)
      if (rows.kind[row] === index && passes(row)) bytes.forEach((value, i) => (values[i] += value));
    for (let row = process.firstRow; row < process.endRow; row++)
      if (rows.kind[row] === index && passes(row)) values[values.length - 1] += rows.live_bytes[row];
    return {at: [...process.pointAt, process.seconds], values};
  }

  function kindSeries(data, view) {
    const passes = figures.isBySite(view) ? figures.filterOf(data, view) : null;
    return model.KINDS
      .map((kind, index) => {
        const curves = processesOf(data, view)
                         .map((process) => ({
                                ...(passes ? passingCurve(data, process, index, passes) : wholeCurve(process, index)),
                                start: process.start,
                                end: process.end
                              }));
        return {name: kind, color: theme.kind(kind), ...stepsAdd(curves)};
      })
      .filter((series) => series.values.some((value) => value > 0) && !view.withoutKinds.includes(series.name));
  }

  function siteSeries(data, view, passes = figures.filterOf(data, view)) {
    const curves = processesOf(data, view)
                     .flatMap(
                       (process) => [...process.curves]
                                      .filter(([row]) => passes(row))
                                      .map(([row, bytes]) => ({
                                             row,
                                             most: bytes.reduce((most, value) => Math.max(most, value), 0),
                                             at: process.pointAt,
                                             values: bytes,
                                             start: process.start,
                                             end: process.end
                                           })));
    curves.sort((a, b) => b.most - a.most);
    const series = curves.slice(0, SITES).map((curve, i) => {
      const frame = data.siteFrame(curve.row);
      return {
        name: frame < 0 ? "[unknown]" : data.frames.name(frame),
        row: curve.row,
        color: theme.nth(i),
        ...stepsAdd([curve])
      };
    });
    if (curves.length > SITES)
      series.push(
        {name: `${curves.length - SITES} more sites`, color: theme.now().faint, ...stepsAdd(curves.slice(SITES))});
    return series;
  }

  const isDevice = (data, row) => model.KINDS[data.rows.kind[row]] === "device";

  function deviceSiteSeries(data, view) {
    const passes = figures.filterOf(data, view);
    return siteSeries(data, view, (row) => isDevice(data, row) && passes(row));
  }

  const GPU_NAMES = {device: "GPU", stream: "GPU", in_use: "in use"};

  /**
   * Curves of GPUs of one sort ("device", "stream", "in_use"), those of the same name in several processes together.
   */
  function gpuSeries(data, view, what) {
    const byName = new Map();
    for (const process of processesOf(data, view))
      for (const curve of process.gpu_curves) {
        if (curve.what !== what) continue;
        const name = `${GPU_NAMES[what]} ${curve.device}${curve.stream ? `, ${curve.stream}` : ""}`;
        if (!byName.has(name)) byName.set(name, []);
        byName.get(name).push({at: process.gpu_seconds, values: curve.bytes, start: process.start, end: process.end});
      }
    return [...byName].map(([name, curves], i) => ({name, color: theme.nth(i), ...stepsAdd(curves)}));
  }

  /** What drivers say is in use on all GPUs, null: not recorded. */
  function inUseSeries(data, view) {
    const curves =
      processesOf(data, view)
        .flatMap(
          (process) =>
            process.gpu_curves.filter((curve) => curve.what === "in_use")
              .map(
                (curve) => ({at: process.gpu_seconds, values: curve.bytes, start: process.start, end: process.end})));
    return curves.length ? stepsAdd(curves) : null;
  }

  /** The ways to split the areas that a report has data for. */
  function splitsOf(data) {
    const has = (what) => data.processes.some((process) => process.gpu_curves.some((curve) => curve.what === what));
    const hasDeviceSites =
      data.processes.some((process) => [...process.curves.keys()].some((row) => isDevice(data, row)));
    return [
      "kinds", "sites", ...(hasDeviceSites ? ["deviceSites"] : []), ...(has("device") ? ["devices"] : []),
      ...(has("stream") ? ["streams"] : [])
    ];
  }

  function rssSeries(data, view) {
    const curves =
      processesOf(data, view)
        .map((process) => ({at: process.sampleAt, values: process.rss, start: process.start, end: process.end}));
    const series = stepsAdd(curves);
    return series.values.some((value) => value > 0) ? series : null;
  }

  const AREAS = {
    kinds: kindSeries,
    sites: (data, view) => siteSeries(data, view),
    deviceSites: deviceSiteSeries,
    devices: (data, view) => gpuSeries(data, view, "device"),
    streams: (data, view) => gpuSeries(data, view, "stream"),
  };

  /**
   * What is drawn: areas on each other, and a line, {label, at, values}: resident memory, or what GPUs' drivers say;
   * below them calls, across all marks. The line and calls are not known by site.
   */
  function seriesOf(data, view) {
    const ofGpu = view.series !== "kinds" && view.series !== "sites";
    const bySite = figures.isBySite(view);
    const line = bySite       ? null :
      ofGpu                   ? inUseSeries(data, view) :
      view.series === "kinds" ? rssSeries(data, view) :
                                null;
    return {
      by: view.series,
      areas: AREAS[view.series](data, view),
      line: line && {...line, label: ofGpu ? "in use" : "RSS"},
      calls: bySite ? null : calls.of(processesOf(data, view)),
      marks: marks.of(processesOf(data, view)),
      end: data.end || 1,
    };
  }

  const valueAt = (series, seconds) => {
    const i = figures.lastUpTo(series.at, seconds);
    return i < 0 ? 0 : series.values[i];
  };

  // ---- drawing

  const bottomOf = (to, all) => to.height - BOTTOM - (all.calls ? calls.STRIP : 0);
  const plotWidth = (width) => Math.max(10, width - LEFT - RIGHT);
  const xOf = (all, width, seconds) => LEFT + (seconds / all.end) * plotWidth(width);
  const secondsOf = (all, width, x) => Math.min(all.end, Math.max(0, ((x - LEFT) / plotWidth(width)) * all.end));

  /** By pixel column the values of every area; of the samples in a column the one with the highest sum is shown. */
  function columnsOf(all, width) {
    const count = plotWidth(width);
    const times = [...new Set(all.areas.flatMap((series) => series.at))].sort((a, b) => a - b);
    const columns = [];
    let next = 0;
    const at = (seconds) => all.areas.map((series) => valueAt(series, seconds));
    const sum = (values) => values.reduce((total, value) => total + value, 0);
    for (let x = 0; x <= count; x++) {
      const end = ((x + 1) / count) * all.end;
      let best = at((x / count) * all.end);
      for (; next < times.length && times[next] < end; next++) {
        const values = at(times[next]);
        if (sum(values) > sum(best)) best = values;
      }
      columns.push(best);
    }
    return columns;
  }

  /** A round number of bytes or seconds of at least `least`. */
  function roundStep(least, bases) {
    let unit = 1;
    const top = bases[bases.length - 1];
    while (least > unit * top) unit *= top;
    while (least < unit / 10 && unit > 1e-6) unit /= 10;
    return unit * (bases.find((base) => unit * base >= least) || top);
  }
  const byteStep = (least) => roundStep(Math.max(1, least), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
  const timeStep = (least) => roundStep(least, [0.1, 0.2, 0.5, 1, 2, 5, 10]);

  function axesDraw(to, all, most, colors) {
    const bottom = bottomOf(to, all);
    const step = byteStep(most / 5);
    for (let bytes = 0; bytes <= most; bytes += step) {
      const y = bottom - (bytes / most) * (bottom - TOP);
      to.line([[LEFT, y], [to.width - RIGHT, y]], colors.line);
      to.text(LEFT - 8, y, format.bytes(bytes), colors.faint, {size: 11, align: "right"});
    }
    const every = timeStep(all.end / Math.max(2, plotWidth(to.width) / 90));
    for (let seconds = 0; seconds <= all.end * 1.0001; seconds += every)
      to.text(
        Math.min(xOf(all, to.width, seconds), to.width - 18), to.height - BOTTOM + 11,
        `${Number(seconds.toPrecision(6))} s`, colors.faint, {size: 11, align: "center"});
  }

  function areasDraw(to, all, columns, most) {
    const bottom = bottomOf(to, all);
    const y = (bytes) => bottom - (bytes / most) * (bottom - TOP);
    const base = new Float64Array(columns.length);
    all.areas.forEach((series, k) => {
      const lower = [];
      const upper = [];
      columns.forEach((values, x) => {
        lower.push([LEFT + x, y(base[x])]);
        base[x] += values[k];
        upper.push([LEFT + x, y(base[x])]);
      });
      to.area([...upper, ...lower.reverse()], series.color);
    });
  }

  function lineDraw(to, all, most, colors) {
    const bottom = bottomOf(to, all);
    const points = [];
    for (let x = 0; x <= plotWidth(to.width); x++) {
      const bytes = valueAt(all.line, (x / plotWidth(to.width)) * all.end);
      if (bytes > 0) points.push([LEFT + x, bottom - (bytes / most) * (bottom - TOP)]);
    }
    if (points.length > 1) to.line(points, colors.text, 1.5);
  }

  function rangeDraw(to, all, range, colors) {
    const [x0, x1] = range.map((seconds) => xOf(all, to.width, seconds));
    const bottom = to.height - BOTTOM;
    to.rect(LEFT, TOP, x0 - LEFT, bottom - TOP, colors.range);
    to.rect(x1, TOP, to.width - RIGHT - x1, bottom - TOP, colors.range);
    for (const x of [x0, x1]) {
      to.rect(x - 1, TOP, 2, bottom - TOP, colors.accent);
      to.rect(x - 3, (TOP + bottom) / 2 - 9, 6, 18, colors.accent);
    }
  }

  /** Without a wish, the line is shown where it does not press everything else flat. */
  function lineShown(all, wish, highest) {
    if (wish !== null) return wish;
    return all.line.values.every((bytes) => bytes <= LINE_MOST * highest);
  }

  /**
   * `shown`: {range, hover: seconds or null, mark: that is pointed at or null, markName: chosen or null, peak: seconds
   * or null, line: whether it is wanted, null: as it fits}
   */
  function draw(to, all, shown) {
    const colors = theme.now();
    to.rect(0, 0, to.width, to.height, colors.back);
    const columns = columnsOf(all, to.width);
    const highest = columns.reduce((most, values) => Math.max(most, values.reduce((sum, value) => sum + value, 0)), 0);
    const lineMost = all.line && lineShown(all, shown.line, highest) ?
      all.line.values.reduce((most, value) => Math.max(most, value), 0) :
      0;
    const most = Math.max(highest, lineMost, 1) * 1.06;
    axesDraw(to, all, most, colors);
    areasDraw(to, all, columns, most);
    if (lineMost) lineDraw(to, all, most, colors);
    const bottom = to.height - BOTTOM;
    const columnCount = plotWidth(to.width);
    if (all.calls)
      calls.draw(
        to, all.calls, {left: LEFT, top: bottomOf(to, all), bottom, columns: columnCount, end: all.end}, colors.faint);
    marks.draw(
      to, all.marks, shown.mark, shown.markName,
      {top: TOP, bottom, left: LEFT, right: LEFT + columnCount, xOf: (seconds) => xOf(all, to.width, seconds)}, colors);
    if (shown.peak !== null) {
      const x = xOf(all, to.width, shown.peak);
      to.area([[x - 4, TOP - 6], [x + 4, TOP - 6], [x, TOP]], colors.text);
    }
    if (shown.range) rangeDraw(to, all, shown.range, colors);
    if (shown.hover !== null) to.rect(xOf(all, to.width, shown.hover) - 0.5, TOP, 1, bottom - TOP, colors.text);
  }

  /** Whether the line is drawn. */
  function hasLine(all, wish) {
    if (!all.line) return false;
    const times = [...new Set(all.areas.flatMap((series) => series.at))];
    const highest =
      times.reduce((most, at) => Math.max(most, all.areas.reduce((sum, one) => sum + valueAt(one, at), 0)), 0);
    return lineShown(all, wish, highest);
  }

  return {splitsOf, seriesOf, processesOf, valueAt, draw, xOf, secondsOf, hasLine};
})();
