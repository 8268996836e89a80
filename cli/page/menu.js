/* The menu of a box or a table's row, and dialogs. Both work by keyboard alone. */
const menu = (() => {
  let back = null;  // what had the focus before

  function close() {
    const place = dom.byId("menu");
    if (place.hidden) return false;
    place.hidden = true;
    if (back) back.focus();
    return true;
  }

  /** `items`: {label, key, action}, at a point of the window. */
  function open(items, x, y) {
    const place = dom.byId("menu");
    if (place.hidden) back = document.activeElement;
    place.replaceChildren(...items.map(
      ({label, key, action}) => dom.make(
        "button", {
          type: "button",
          role: "menuitem",
          onclick: () => {
            close();
            action();
          }
        },
        dom.make("span", {}, label), dom.make("kbd", {}, key || ""))));
    place.hidden = false;
    const {width, height} = place.getBoundingClientRect();
    place.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
    place.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
    place.firstChild.focus();
  }

  function keyTake(event) {
    const items = [...dom.byId("menu").children];
    const at = items.indexOf(document.activeElement);
    if (event.key === "ArrowDown")
      items[(at + 1) % items.length].focus();
    else if (event.key === "ArrowUp")
      items[(at + items.length - 1) % items.length].focus();
    else if (event.key === "Escape" || event.key === "Tab")
      close();
    else {
      const chosen = items.find((item) => item.lastChild.textContent === event.key);
      if (!chosen) return;
      chosen.click();
    }
    event.preventDefault();
    event.stopPropagation();
  }

  function start() {
    dom.byId("menu").addEventListener("keydown", keyTake);
    document.addEventListener("pointerdown", (event) => {
      if (!dom.byId("menu").contains(event.target)) close();
    });
  }

  /** A dialog of the browser's own: it keeps the focus inside and closes by Escape. */
  function dialog(title, ...content) {
    const element = dom.make(
      "dialog", {"aria-label": title, onclose: () => element.remove()},
      dom.make(
        "form", {method: "dialog", class: "dialog-head"}, dom.make("h2", {}, title),
        dom.make("button", {"aria-label": "Close", title: "Close (Escape)"}, "✕")),
      ...content);
    document.body.append(element);
    element.showModal();
    return element;
  }

  return {open, close, start, dialog};
})();
