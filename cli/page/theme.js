/*
 * Colours, told apart by people who see fewer of them (after Okabe and Ito, "Color Universal Design", 2008): each
 * category differs from the others in lightness too. Light and dark follow the system unless the view says otherwise.
 */
const theme = (() => {
  /** [hue, saturation %, lightness % in light, in dark] */
  const CATEGORIES = {
    native: {label: "native", hsl: [203, 72, 74, 33]},
    python: {label: "Python", hsl: [43, 92, 66, 31]},
    jit: {label: "JIT", hsl: [162, 55, 56, 24]},
    gpu: {label: "GPU", hsl: [322, 52, 77, 40]},
    mmap: {label: "mmap", hsl: [17, 82, 68, 36]},
    runtime: {label: "runtime", hsl: [215, 10, 80, 34]},
    other: {label: "other", hsl: [215, 8, 86, 28]},
    root: {label: "all", hsl: [215, 14, 90, 24]},
  };
  const KIND_HSL = {
    heap: [203, 80, 52, 58],
    mmap: [17, 85, 55, 60],
    python: [43, 95, 48, 55],
    device: [322, 50, 56, 66],
    pinned: [262, 50, 62, 70],
    managed: [162, 70, 35, 48],
  };
  const SHADES = 4;
  const SHADE_STEP = 2.5;

  let dark = false;
  let cache = {};

  const hsl = ([hue, saturation, light, darker], off = 0) =>
    `hsl(${hue} ${saturation}% ${(dark ? darker : light) + off}%)`;

  function use(choice) {
    dark = choice === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : choice === "dark";
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    cache = {
      text: get("--text"),
      faint: get("--faint"),
      line: get("--line"),
      back: get("--panel"),
      accent: get("--accent"),
      mark: get("--mark"),
      bad: get("--bad"),
      match: get("--match"),
      onMatch: "#1b1300",
      box: dark ? "#eef2f7" : "#10202f",
      range: get("--range"),
      categories: Object.fromEntries(
        Object.entries(CATEGORIES)
          .map(
            ([name, {hsl: own}]) =>
              [name,
               Array.from({length: SHADES}, (_, shade) => hsl(own, (shade - (SHADES - 1) / 2) * SHADE_STEP)),
    ])),
    };
  }

  /** Boxes of one category beside each other get slightly different shades, the same for the same number each time. */
  const box = (category, number) => cache.categories[category][(number * 7) & (SHADES - 1)];
  const kind = (name) => hsl(KIND_HSL[name]);

  /** Colours for a list of things that have no colour of their own. */
  const nth = (index) => hsl([(203 + index * 67) % 360, 62, 58 + (index % 3) * 8, 44 + (index % 3) * 8]);

  return {use, box, kind, nth, CATEGORIES, now: () => cache, isDark: () => dark};
})();
