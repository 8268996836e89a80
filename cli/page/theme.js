/*
 * Colours, told apart by people who see fewer of them: tests/test_page_colors.py simulates how. Light and dark follow
 * the system unless the view says otherwise.
 */
const theme = (() => {
  /** In light and in dark: [hue, saturation %, lightness %] */
  const CATEGORIES = {
    native: {label: "native", hsl: [[217, 82, 74], [220, 72, 33]]},
    python: {label: "Python", hsl: [[43, 92, 66], [40, 93, 26]]},
    jit: {label: "JIT", hsl: [[161, 75, 52], [160, 60, 26]]},
    gpu: {label: "GPU", hsl: [[319, 42, 68], [295, 22, 40]]},
    mmap: {label: "mmap", hsl: [[16, 82, 66], [352, 57, 30]]},
    runtime: {label: "runtime", hsl: [[215, 6, 84], [206, 6, 37]]},
    other: {label: "other", hsl: [[215, 8, 86], [215, 8, 28]]},
    root: {label: "all", hsl: [[215, 14, 90], [215, 14, 24]]},
  };
  const KIND_HSL = {
    heap: [[215, 80, 39], [225, 88, 74]],
    mmap: [[12, 85, 40], [12, 90, 58]],
    python: [[37, 93, 42], [46, 98, 53]],
    device: [[326, 50, 34], [327, 35, 63]],
    pinned: [[263, 50, 66], [262, 55, 58]],
    managed: [[162, 70, 35], [163, 83, 49]],
  };
  const SHADES = 4;
  const SHADE_STEP = 2.5;

  let dark = false;
  let cache = {};

  function hsl([inLight, inDark], off = 0) {
    const [hue, saturation, lightness] = dark ? inDark : inLight;
    return `hsl(${hue} ${saturation}% ${lightness + off}%)`;
  }

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
  function nth(index) {
    const hue = (203 + index * 67) % 360;
    return hsl([[hue, 62, 58 + (index % 3) * 8], [hue, 62, 44 + (index % 3) * 8]]);
  }

  return {use, box, kind, nth, CATEGORIES, now: () => cache, isDark: () => dark};
})();
