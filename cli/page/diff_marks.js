/* What memory grew by from one mark of a name to the next, in both recordings: a list beside that of changed sites. */
const diffMarks = (() => {
  const make = dom.make;

  /** {pair, name, base, new: {count, growth_bytes} or null} of the chosen processes. */
  const marksOf = (data, state) => data.facts.pairs.flatMap(
    (pair, index) =>
      (state.pair === null || state.pair === index ? pair.marks.map((mark) => ({...mark, pair: pair.name})) : []));

  const isRepeated = (one) => one !== null && one.growth_bytes !== null;

  /** New minus base; null where one of them has none. */
  const differenceOf = ({base, new: now}) =>
    (isRepeated(base) && isRepeated(now) ? now.growth_bytes - base.growth_bytes : null);

  const signed = (bytes) => (bytes > 0 ? "+" : "") + format.bytes(bytes);

  /** "+4.00 KiB each, 5 times" */
  function sideText(one) {
    if (one === null) return "not there";
    return isRepeated(one) ? `${signed(one.growth_bytes)} each, ${format.count(one.count)} times` : "once";
  }

  const moodOf = (difference) => (difference > 0 ? "added" : difference < 0 ? "gone" : "");

  function line(mark, withProcess) {
    const difference = differenceOf(mark);
    const word = difference === null ? (mark.base ? (mark.new ? "" : "gone") : "new") : "";
    return make(
      "div", {class: "change mark", "data-mark": mark.name},
      make("span", {class: word ? "badge-change" : ""}, word.toUpperCase()),
      make(
        "b", {class: moodOf(difference)},
        difference === null ? "" :
          difference        ? signed(difference) :
                              "as before"),
      make("span", {class: "site", title: format.shortened(mark.name, 1000)}, format.shortened(mark.name, 200)),
      make("span", {class: "more"}, [
        `${sideText(mark.base)} → ${sideText(mark.new)}`, withProcess ? mark.pair : ""
      ].filter(Boolean).join("  ·  ")));
  }

  function show(data, state) {
    const marks = marksOf(data, state);
    dom.byId("marks").replaceChildren(
      make("p", {class: "hint"}, "Growth of live memory from one mark of a name to the next, on the mean."),
      ...marks.map((mark) => line(mark, state.pair === null && data.facts.pairs.length > 1)));
  }

  /** The heads of the lists: `lists` is {id: label}; none where there is but one to choose. */
  function tabsShow(lists, chosen, choose) {
    dom.byId("lists").replaceChildren(...Object.entries(lists).map(
      ([id, label]) => make(
        "button", {
          type: "button",
          role: "tab",
          "data-list": id,
          "aria-selected": String(id === chosen),
          title: "Next list (t)",
          onclick: () => choose(id)
        },
        label)));
    for (const id of ["changes", "marks"]) dom.byId(id).hidden = id !== chosen;
  }

  return {marksOf, differenceOf, show, tabsShow};
})();
