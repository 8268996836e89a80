/*
 * What the page shows: one plain object, kept whole in the address's fragment, so that a copied address opens the same
 * view and the browser's back and forward walk through it.
 */
const view = (() => {
  const ALWAYS = {
    mode: "leaked",
    range: null,
    process: null,
    rank: null,
    withoutKinds: [],
    thread: null,
    entry: null,
    only: null,
    inverted: false,
    upright: false,
    runtime: false,
    fold: true,
    lines: false,
    byProcess: true,
    zoom: [],
    pin: null,
    search: "",
    tab: "leaks",
    sort: null,
    hidden: [],
    theme: "auto",
    series: "kinds",
    focus: null,
    mark: null,
    line: null,
  };

  const text = {write: String, read: String};
  const flag = {write: (value) => (value ? "1" : "0"), read: (value) => value === "1"};
  const number = {write: String, read: (value) => (/^\d+$/.test(value) ? Number(value) : null)};
  const path = {
    write: (value) => value.join("."),
    read: (value) => value.split(".").filter((part) => /^\d+$/.test(part)).map(Number),
  };
  const list = {write: (value) => JSON.stringify(value), read: (value) => [].concat(JSON.parse(value)).map(String)};
  const range = {
    write: ([from, to]) => `${from}-${to}`,
    read(value) {
      const ends = value.split("-").map(Number);
      return ends.length === 2 && ends[0] >= 0 && ends[0] < ends[1] ? ends : null;
    },
  };
  const sort = {
    write: ({column, up}) => `${up ? "+" : "-"}${column}`,
    read: (value) => ({column: value.slice(1), up: value[0] === "+"}),
  };

  /** How each part stands in the fragment: its short name, and its words. */
  const PARTS = {
    mode: ["m", text],
    range: ["r", range],
    process: ["p", number],
    rank: ["rank", number],
    withoutKinds: ["k", list],
    thread: ["thr", number],
    entry: ["e", number],
    only: ["only", text],
    inverted: ["inv", flag],
    upright: ["up", flag],
    runtime: ["rt", flag],
    fold: ["fold", flag],
    lines: ["ln", flag],
    byProcess: ["bp", flag],
    zoom: ["z", path],
    pin: ["pin", path],
    search: ["q", text],
    tab: ["t", text],
    sort: ["s", sort],
    hidden: ["h", list],
    theme: ["th", text],
    series: ["by", text],
    focus: ["f", number],
    mark: ["mk", text],
    line: ["line", flag],
  };

  let defaults = ALWAYS;
  let now = {...ALWAYS};
  let listener = () => {};

  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  function write(state) {
    const fragment = new URLSearchParams();
    for (const [name, [key, coding]] of Object.entries(PARTS))
      if (!same(state[name], defaults[name]) && state[name] !== null) fragment.set(key, coding.write(state[name]));
    return fragment.toString();
  }

  /** A fragment is anyone's to write: what cannot be read stays as it is by default. */
  function read(fragment) {
    const given = new URLSearchParams(fragment);
    const state = {...defaults};
    for (const [name, [key, coding]] of Object.entries(PARTS)) {
      if (!given.has(key)) continue;
      try {
        const value = coding.read(given.get(key));
        if (value !== null) state[name] = value;
      } catch {
        continue;
      }
    }
    return state;
  }

  const fragmentNow = () => location.hash.slice(1);

  function takeAddress() {
    const before = now;
    now = read(fragmentNow());
    listener(before);
  }

  /** `own` are this report's defaults; `changed(before)` is called after every change. */
  function start(own, changed) {
    defaults = {...ALWAYS, ...own};
    listener = changed;
    window.addEventListener("hashchange", takeAddress);
    window.addEventListener("popstate", takeAddress);
    now = read(fragmentNow());
  }

  /** Changes parts of the view. `quiet`: no step in the history (typing, moving about). */
  function change(parts, quiet = false) {
    const before = now;
    now = {...now, ...parts};
    if (same(before, now)) return;
    const address = `#${write(now)}`;
    history[quiet ? "replaceState" : "pushState"](null, "", address);
    listener(before);
  }

  return {start, change, get: () => now, defaults: () => defaults};
})();
