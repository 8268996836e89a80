// Texts with a contrast below 4.5 to 1, the least that WCAG 2.2 (1.4.3) asks for; brightness as it defines it.
() => {
  const TEXTS = "button, label, h1, h2, .hint, .table-note, .legend span, .tile span, .row span, .crumbs span";
  const parse = (color) => color.match(/[\d.]+/g).map(Number);
  const linear = (part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const brightness = ([red, green, blue]) =>
    0.2126 * linear(red / 255) + 0.7152 * linear(green / 255) + 0.0722 * linear(blue / 255);
  const backOf = (element) => {
    for (; element; element = element.parentElement) {
      const color = parse(getComputedStyle(element).backgroundColor);
      if (color.length < 4 || color[3] > 0.5) return color;
    }
    return [255, 255, 255];
  };
  const isWhole = (element) =>
    element.offsetParent && element.textContent.trim() && getComputedStyle(element).opacity === "1";
  return [...document.querySelectorAll(TEXTS)]
    .filter(isWhole)
    .map((element) => {
      const pair = [parse(getComputedStyle(element).color), backOf(element)].map(brightness).sort((a, b) => b - a);
      return [element.textContent, (pair[0] + 0.05) / (pair[1] + 0.05)];
    })
    .filter(([, contrast]) => contrast < 4.5)
    .map(([text, contrast]) => `${text}: ${contrast.toFixed(2)}`);
}
