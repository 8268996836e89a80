/*
 * One thread's share of everything (heaptide run --per-thread): while a thread is chosen, the figures of rows, their
 * curves, Python's list and what grows are that thread's, in the same arrays, so that every view shows them.
 */
const threads = (() => {
  const NAME_LIMIT = 40;  // so that what tells threads apart, which comes last, is still there to be read
  const nameShown = (name) => format.shortened(name || "[no name]", NAME_LIMIT);

  /** A thread, or all of one name: {label, title: with the whole name, takes(process, owner)}. */
  function choicesOf(processes) {
    const all = processes.flatMap(
      (process) => process.owners.map((owner, index) => ({...owner, process: process.index, index})).slice(1));
    const counts = new Map();
    for (const {name} of all) counts.set(name, (counts.get(name) || 0) + 1);
    const groups = [...counts].filter(([, count]) => count > 1);
    const several = processes.length > 1;
    const more =
      ({tid, process}) => [tid, several && `(${format.shortened(processes[process].name, NAME_LIMIT)})`].filter(
        Boolean);
    const labelled = (name, rest, takes) =>
      ({label: nameShown(name) + rest, title: (name || "[no name]") + rest, takes});
    return [
      ...groups.map(
        ([name, count]) => labelled(
          name, `, ${format.count(count)} threads`,
          (process, owner) => owner > 0 && processes[process].owners[owner].name === name)),
      ...all.map(
        (one) => labelled(
          one.name, more(one).map((part) => ` ${part}`).join(""),
          (process, owner) => process === one.process && owner === one.index))
    ];
  }

  /** By process the curves of its shares: [{share, bytes}]. */
  function curvesOf({facts, columns}) {
    const at = {curve: 0, value: 0};
    return facts.processes.map(({share_curve_count, point_count}) => {
      const curves = Array.from(
        {length: share_curve_count},
        (_, i) => ({
          share: columns.share_curve_share[at.curve + i],
          bytes: columns.share_curve_bytes.subarray(at.value + i * point_count, at.value + (i + 1) * point_count)
        }));
      at.curve += share_curve_count;
      at.value += share_curve_count * point_count;
      return curves;
    });
  }

  function pythonOf(columns) {
    return Array.from(columns.share_python_row, (share, i) => ({
                                                  share,
                                                  leaked: columns.share_python_leaked[i] === 1,
                                                  live_bytes: columns.share_python_live_bytes[i],
                                                  live_blocks: columns.share_python_live_blocks[i],
                                                  allocations: columns.share_python_allocations[i],
                                                  peak_bytes: columns.share_python_peak_bytes[i]
                                                }));
  }

  /** Lines of Python's list of one row are one line each for what is lost and what is not. */
  function pythonSum(entries) {
    const sums = new Map();
    for (const entry of entries) {
      const key = `${entry.row},${entry.leaked}`;
      const sum = sums.get(key);
      if (!sum)
        sums.set(key, entry);
      else {
        for (const name of ["live_bytes", "live_blocks", "allocations"]) sum[name] += entry[name];
        sum.peak_bytes =
          sum.peak_bytes === null || entry.peak_bytes === null ? null : sum.peak_bytes + entry.peak_bytes;
      }
    }
    return [...sums.values()];
  }

  /** {choices, use(data, choice or null)}; no choices: threads were not kept apart. */
  function make(raw, data, figureNames) {
    const {columns, facts} = raw;
    const choices = choicesOf(data.processes);
    const curves = curvesOf(raw);
    const python = pythonOf(columns);
    const whole = {
      figures: new Map(figureNames.map((name) => [name, data.rows[name]])),
      curves: data.processes.map((process) => process.curves),
      python: data.python,
      growing: data.growing
    };
    let now = null;

    const rowOf = (share) => columns.share_row[share];
    const takes = (choice, share) => choices[choice].takes(data.rows.process[rowOf(share)], columns.share_owner[share]);

    function figuresUse(choice) {
      for (const name of figureNames) {
        const sums = new Float64Array(data.rows.count);
        const from = columns[`share_${name}`];
        for (let share = 0; share < from.length; share++)
          if (takes(choice, share)) sums[rowOf(share)] += from[share];
        data.rows[name] = sums;
      }
    }

    function curvesUse(choice) {
      data.processes.forEach((process, i) => {
        process.curves = new Map();
        for (const {share, bytes} of curves[i]) {
          if (!takes(choice, share)) continue;
          const sum = process.curves.get(rowOf(share));
          if (sum)
            bytes.forEach((value, k) => (sum[k] += value));
          else
            process.curves.set(rowOf(share), Float64Array.from(bytes));
        }
      });
    }

    function listsUse(choice) {
      data.python = pythonSum(
        python.filter(({share}) => takes(choice, share)).map(({share, ...entry}) => ({
                                                               ...entry,
                                                               row: rowOf(share),
                                                               peak_bytes: entry.peak_bytes ? entry.peak_bytes - 1 :
                                                                                              null,
                                                               types: null  // known of the whole row
                                                             })));
      const rates = new Map();
      for (const {growing_shares} of facts.processes)
        for (const [share, rate] of growing_shares)
          if (takes(choice, share)) rates.set(rowOf(share), (rates.get(rowOf(share)) || 0) + rate);
      data.growing = [...rates].map(([row, rate]) => ({row, rate}));
    }

    function use(choice) {
      if (choice === now) return;
      now = choice;
      if (choice === null) {
        for (const [name, values] of whole.figures) data.rows[name] = values;
        data.processes.forEach((process, i) => (process.curves = whole.curves[i]));
        data.python = whole.python;
        data.growing = whole.growing;
        return;
      }
      figuresUse(choice);
      curvesUse(choice);
      listsUse(choice);
    }

    return {choices, use};
  }

  return {make};
})();
