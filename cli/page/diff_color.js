/*
 * Red where memory was added, blue where it went, the stronger the larger the share of what is there: told apart by
 * people who see no red too, and by lightness from what has not changed.
 */
const diffColor = (() => {
  const STEPS = 6;
  /** Saturation and lightness, in %, of what has not changed and of the strongest change. */
  const ADDED = {hue: 6, saturation: [20, 86], light: [89, 66], dark: [27, 44]};
  const GONE = {hue: 214, saturation: [20, 82], light: [89, 68], dark: [27, 46]};
  const SAME = {hue: 215, saturation: [9, 9], light: [88, 88], dark: [26, 26]};

  /** From -1, all of it went, to 1, all of it is new. */
  const shareOf = ({base, now}) => (now - base) / Math.max(now, base, 1);

  function at({hue, saturation, light, dark}, strength) {
    const between = ([from, to]) => (from + (to - from) * strength).toFixed(1);
    return `hsl(${hue} ${between(saturation)}% ${between(theme.isDark() ? dark : light)}%)`;
  }

  /** A few steps of colour, so that boxes of one colour are drawn together. */
  function of (box) {
    const share = shareOf(box);
    const step = Math.ceil(Math.abs(share) * STEPS) / STEPS;
    if (Math.abs(share) < 0.005) return at(SAME, 0);
    return at(share > 0 ? ADDED : GONE, step);
  }

  return {of, shareOf};
})();
