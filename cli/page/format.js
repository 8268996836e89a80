/* Numbers and names for people, by the same rules as cli/units.c. */
const format = (() => {
  const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

  /** "1000 B", "18.8 KiB", "1.23 MiB" */
  function bytes(value) {
    if (value < 0) return "−" + bytes(-value);
    if (value < 1024) return `${Math.round(value)} B`;
    let scaled = value / 1024;
    let unit = 0;
    for (; scaled >= 1023.5 && unit < 5; unit++) scaled /= 1024;
    return `${scaled.toFixed(scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0)} ${UNITS[unit]}`;
  }

  /** "1,234,567" */
  function count(value) {
    return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
  }

  /** "1 site", "1,234 sites" */
  const counted = (value, word) => `${count(value)} ${word}${value === 1 ? "" : "s"}`;

  /** "one, two and three" */
  const listed = (words) => [words.slice(0, -1).join(", "), ...words.slice(-1)].filter(Boolean).join(" and ");

  /** "0.012 s", "2.05 s", "3 min 20 s" */
  function seconds(value) {
    const whole = Math.floor(value);
    if (value < 1) return `${value.toFixed(3)} s`;
    if (value < 120) return `${value.toFixed(value < 10 ? 2 : 1)} s`;
    if (whole < 7200) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
    return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
  }

  function percent(part, whole) {
    if (!whole) return "0 %";
    const share = (100 * part) / whole;
    return share > 0 && share < 0.1 ? "< 0.1 %" : `${share.toFixed(share < 99.95 ? 1 : 0)} %`;
  }

  /** The part of a path behind its last slash. */
  function fileName(path) {
    return path.slice(path.lastIndexOf("/") + 1);
  }

  /** A text of at most `limit` characters. */
  function shortened(text, limit) {
    return text.length <= limit ? text : text.slice(0, limit - 1) + "…";
  }

  /** "dict 57 (56.5 KiB), str 12 (1.10 KiB)": of a site's Python objects; "" where they are not known. */
  const types = (list) =>
    (list || []).map(({type, blocks, bytes: own}) => `${type} ${count(blocks)} (${bytes(own)})`).join(", ");

  return {bytes, count, counted, listed, types, seconds, percent, fileName, shortened};
})();
