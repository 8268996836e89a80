/* The page's elements. Names from reports come in as text nodes only, so that none of them is ever read as HTML. */
const dom = (() => {
  const byId = (id) => document.getElementById(id);

  /** An element with attributes (functions are listeners) and children, which are elements or texts. */
  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (typeof value === "function")
        element[key] = value;
      else if (value !== false && value !== null && value !== undefined)
        element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  /** A line that goes by itself: what a key or a button did. */
  let timer = 0;
  function say(text) {
    const place = byId("said");
    place.textContent = text;
    place.classList.add("shown");
    clearTimeout(timer);
    timer = setTimeout(() => place.classList.remove("shown"), 2500);
  }

  /** Pages from a file may not have the clipboard: then a selection is copied. */
  async function copy(text, what) {
    let good = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", {});
      area.value = text;
      document.body.append(area);
      area.select();
      good = document.execCommand("copy");
      area.remove();
    }
    say(good ? `${what} copied` : "the browser does not let this page copy");
  }

  function download(name, type, content) {
    const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
    make("a", {href: address, download: name}).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  const BUTTONS = "button, select, input";

  /** Does what makes buttons anew, and gives the focus to the one that stands where the one with the focus stood. */
  function keepingFocus(action) {
    const was = document.activeElement;
    const place = was && was.closest("[id]");
    const at = place ? [...place.querySelectorAll(BUTTONS)].indexOf(was) : -1;
    action();
    if (at < 0 || was.isConnected) return;
    const now = place.querySelectorAll(BUTTONS)[at];
    if (now) now.focus({preventScroll: true});
  }

  return {byId, make, say, copy, download, keepingFocus};
})();
