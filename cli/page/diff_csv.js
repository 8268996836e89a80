/* The lists of the diff as lines of cells, for CSV. */
const diffCsv = (() => {
  function changes(data, state) {
    const {links, sites} = data;
    const head = ["change", "figure", "kind", "base", "new", "difference", "stack"];
    const lines = side.changesOf(data, state)
                    .map(
                      (one) =>
                        [model.CHANGES[one.change],
                         model.FIGURES[one.figure].id,
                         model.KINDS[sites.kind[one.site]],
                         sites.base[one.figure][one.site],
                         sites.now[one.figure][one.site],
                         one.difference,
                         data.stackOf(sites.chain[one.site], links).map((link) => links.nameText(link)).join(" < "),
    ]);
    return [head, ...lines];
  }

  function marks(data, state) {
    const head = ["mark", "base times", "base growth each", "new times", "new growth each", "difference", "process"];
    const cells = (one) => [one && one.count, one && one.growth_bytes];
    const lines =
      diffMarks.marksOf(data, state)
        .map((mark) => [mark.name, ...cells(mark.base), ...cells(mark.new), diffMarks.differenceOf(mark), mark.pair]);
    return [head, ...lines];
  }

  return {changes, marks};
})();
