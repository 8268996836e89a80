/* The line that takes a leak out of the figures: cli/suppress.c reads it, cli/pattern.c matches it. */
const suppression = (() => {
  /** A pattern that this text alone matches. `*` stands for anything, so a text with one in it matches itself too. */
  const exactly = (text) => `^${text.replace(/[\u0000-\u001f\u007f\ufffd]+/g, "*")}$`;

  /** What a suppression of a frame names: its function, else its file, else its module; "" where it has none. */
  function textOf(frames, frame) {
    if (frame < 0 || frames.isProcess(frame)) return "";
    return frames.functionText(frame) || frames.fileText(frame) || frames.moduleText(frame);
  }

  /** "leak:^node_make$"; null where there is nothing to name. */
  function lineOf(frames, frame) {
    const text = textOf(frames, frame);
    return text ? `leak:${exactly(text)}` : null;
  }

  /** What the line takes away: leaks of the stacks that have a frame with that function, file or module. */
  function effectOf(data, frame) {
    const {frames, nodes, rows} = data;
    const text = textOf(frames, frame);
    const hits = new Uint8Array(nodes.count);
    const matches = (one) => !frames.isProcess(one) &&
      (frames.functionText(one) === text || frames.fileText(one) === text || frames.moduleText(one) === text);
    for (let node = 1; node < nodes.count; node++)
      hits[node] = hits[nodes.parent[node]] || matches(nodes.frame[node]) ? 1 : 0;
    const effect = {bytes: 0, blocks: 0, sites: 0};
    for (let row = 0; row < rows.recorded; row++) {
      const blocks = figures.leakedBlocks(rows, row);
      if (!blocks || !hits[rows.node[row]]) continue;
      effect.bytes += figures.leakedBytes(rows, row);
      effect.blocks += blocks;
      effect.sites++;
    }
    return effect;
  }

  function show(data, frame) {
    const line = lineOf(data.frames, frame);
    if (!line) {
      dom.say("this frame has no name that a suppression could match");
      return;
    }
    const effect = effectOf(data, frame);
    const text = dom.make("textarea", {readonly: true, rows: "3", "aria-label": "Suppression"}, line);
    const dialog = menu.dialog(
      "Suppress this", dom.make("p", {}, "Put this line into a file and give that to heaptide report --supp FILE:"),
      text,
      dom.make(
        "p", {class: "where"},
        effect.sites ? `It takes away ${format.bytes(effect.bytes)} in ${
                         format.count(effect.blocks)} leaked blocks at ${format.count(effect.sites)} sites.` :
                       "Nothing that leaked has this in its stack: now it takes nothing away."),
      dom.make(
        "div", {class: "actions"},
        dom.make("button", {type: "button", onclick: () => dom.copy(line, "line")}, "Copy line")));
    text.focus();
    text.select();
    return dialog;
  }

  return {lineOf, effectOf, show};
})();
