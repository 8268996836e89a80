// Controls that lie outside the window or over one another, and whether the page scrolls sideways.
() => {
  const isSeen = (element) => element.offsetParent && !element.closest(".table") && element.offsetWidth > 0;
  const seen = [...document.querySelectorAll("button, select, input")].filter(isSeen).map(
    (element) => ({element, name: element.textContent || element.id, box: element.getBoundingClientRect()}));
  const wrong = document.documentElement.scrollWidth > innerWidth ? ["the page scrolls sideways"] : [];
  const shared = (a, b, start, end) => Math.min(a[end], b[end]) - Math.max(a[start], b[start]);
  seen.forEach(({element, name, box}, i) => {
    if (box.right > innerWidth + 1 || box.left < -1) wrong.push(`outside: ${name}`);
    for (const other of seen.slice(i + 1)) {
      const isOver = shared(box, other.box, "left", "right") > 2 && shared(box, other.box, "top", "bottom") > 2;
      if (isOver && !element.contains(other.element)) wrong.push(`${name} over ${other.name}`);
    }
  });
  return wrong;
}
