/* What the page shows, whole in the address's fragment: a copied address opens the same view. */
const view = (() => {
  const ALWAYS = {
    figure: 0,
    pair: null,
    changedOnly: false,
    inverted: false,
    zoom: [],
    pin: null,
    search: "",
    list: "changes",
    theme: "auto",
  };
  let defaults = ALWAYS;
  let now = {...ALWAYS};
  let listener = () => {};

  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  function write(state) {
    const different = Object.entries(state).filter(([name, value]) => !same(value, defaults[name]));
    return encodeURIComponent(JSON.stringify(Object.fromEntries(different)));
  }

  /** A fragment is anyone's to write: only what is of the right type is taken. */
  function read(fragment) {
    const isPath = (value) => Array.isArray(value) && value.every(Number.isInteger);
    const good = {
      figure: (value) => Number.isInteger(value) && value >= 0 && value < model.FIGURES.length,
      pair: (value) => value === null || (Number.isInteger(value) && value >= 0),
      changedOnly: (value) => typeof value === "boolean",
      inverted: (value) => typeof value === "boolean",
      zoom: isPath,
      pin: (value) => value === null || isPath(value),
      search: (value) => typeof value === "string",
      list: (value) => ["changes", "marks"].includes(value),
      theme: (value) => ["auto", "light", "dark"].includes(value),
    };
    const state = {...defaults};
    try {
      const given = JSON.parse(decodeURIComponent(fragment));
      for (const [name, value] of Object.entries(given))
        if (Object.hasOwn(good, name) && good[name](value)) state[name] = value;
    } catch {
      return state;
    }
    return state;
  }

  function takeAddress() {
    now = read(location.hash.slice(1));
    listener();
  }

  function start(own, changed) {
    defaults = {...ALWAYS, ...own};
    listener = changed;
    window.addEventListener("hashchange", takeAddress);
    window.addEventListener("popstate", takeAddress);
    now = read(location.hash.slice(1));
  }

  /** `quiet`: no step in the history (typing, moving about). */
  function change(parts, quiet = false) {
    const after = {...now, ...parts};
    if (same(now, after)) return;
    now = after;
    history[quiet ? "replaceState" : "pushState"](null, "", `#${write(now)}`);
    listener();
  }

  return {start, change, get: () => now};
})();
