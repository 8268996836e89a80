/* What each key does: one table, which `?` lists. */
const keys = (() => {
  let table = [];

  const isTyping = (event) => event.target.matches("input[type=search], textarea, select");

  /** `table`: {key, label, action}, and {key, label} for those that parts of the page take themselves. */
  function start(own) {
    table = own;
    document.addEventListener("keydown", (event) => {
      if (
        event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey ||
        document.querySelector("dialog[open]"))
        return;
      if (isTyping(event) && event.key !== "Escape") return;
      if (event.target.matches("button") && (event.key === "Enter" || event.key === " ")) return;
      const one = table.find(({key, action}) => action && key.split(" ").includes(event.key));
      if (!one) return;
      event.preventDefault();
      one.action(event);
    });
  }

  const NAMES = {Escape: "Esc", Backspace: "⌫", ArrowUp: "↑"};

  function list() {
    menu.dialog(
      "Keys",
      dom.make(
        "div", {class: "keys"},
        ...table.map(
          ({key, label, shown}) => dom.make(
            "div", {}, dom.make("span", {}, label),
            dom.make("span", {}, ...(shown || key).split(" ").map((one) => dom.make("kbd", {}, NAMES[one] || one)))))),
      dom.make("p", {class: "where"}, "Tab moves between the filters, the timeline, the graph and the tables."));
  }

  return {start, list};
})();
