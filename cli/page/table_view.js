/* A table on the page: its head sorts, its rows are made as they are scrolled into sight. */
const tableView = (() => {
  const ROW = 26;
  const SPARE = 6;  // rows made above and below what is seen

  /** `on`: {sort(column), choose(entry), enter(entry), menu(entry, x, y), isChosen(entry), isFound(entry)} */
  function make(place, data, on) {
    let shown = null;
    let first = 0;
    let cursor = 0;
    const head = dom.byId("table-head");
    const body = dom.byId("table-body");
    const spacer = dom.byId("table-spacer");
    const scroller = place;

    /** Wide enough for the head with its arrow: every row is a grid of its own. */
    const numberWidth = (label) => `${Math.max(70, 7.6 * label.length + 34)}px`;

    const columnWidth = ({wide, roomy, number, kind, label}) => wide ? "minmax(170px, 3fr)" :
      number                                                         ? numberWidth(label) :
      roomy                                                          ? "minmax(140px, 2fr)" :
      kind                                                           ? "76px" :
                                                                       "minmax(64px, 1.2fr)";

    const template = (columns) => columns.map(columnWidth).join(" ");

    function headMake({columns, sort}) {
      head.replaceChildren(...columns.map((column, i) => {
        const arrow = i === sort.column ? (sort.up ? " ▲" : " ▼") : "";
        return dom.make(
          "button", {
            type: "button",
            role: "columnheader",
            class: column.number ? "number" : "",
            "aria-sort": i === sort.column ? (sort.up ? "ascending" : "descending") : "none",
            title: `Sort by ${column.label}`,
            onclick: () => on.sort(i)
          },
          column.label + arrow);
      }));
    }

    function cellMake(entry, column, value) {
      const text = format.shortened(column.text(value, entry), 600);
      const cell = dom.make(
        "span",
        {role: "cell",
         class: column.number ? "number" :
           column.wide        ? "site" :
                                "",
         title: text},
        text);
      if (column.where) {
        const where = column.where(entry, data);
        cell.append(dom.make("small", {}, where));
        cell.title = `${text}  ${where}`;
      }
      if (column.kind) cell.prepend(swatch(value));
      if (column.bar)
        cell.style.setProperty("--share", `${(100 * value) / Math.max(1, barMost(column))}%`),
          cell.classList.add("bar");
      return cell;
    }

    function swatch(kind) {
      const mark = dom.make("i", {class: "swatch"});
      mark.style.background = theme.kind(kind);
      return mark;
    }

    function barMost(column) {
      const at = shown.columns.indexOf(column);
      return shown.entries.reduce((most, entry) => Math.max(most, shown.cellsOf(entry)[at]), 0);
    }

    function rowMake(entry, index) {
      const cells = shown.cellsOf(entry);
      const suppressed = entry.row !== undefined && data.rows.isSuppressed(entry.row) && shown.table.id === "leaks";
      const row = dom.make(
        "div", {
          role: "row",
          id: `row-${index}`,
          class: [
            "row", index === cursor && "cursor", on.isChosen(entry) && "chosen", suppressed && "suppressed",
            on.isFound(entry) && "found"
          ].filter(Boolean)
                   .join(" "),
          title: suppressed ? "suppressed" : null,
          onclick: () => {
            cursor = index;
            on.choose(entry);
          },
          ondblclick: () => on.enter(entry),
          oncontextmenu: (event) => {
            event.preventDefault();
            cursor = index;
            on.menu(entry, event.clientX, event.clientY);
          }
        },
        ...shown.columns.map((column, i) => cellMake(entry, column, cells[i])));
      row.style.gridTemplateColumns = template(shown.columns);
      return row;
    }

    function rowsMake() {
      if (!shown) return;
      const count = Math.ceil(scroller.clientHeight / ROW) + 2 * SPARE;
      first = Math.max(0, Math.floor(scroller.scrollTop / ROW) - SPARE);
      const seen = shown.entries.slice(first, first + count);
      body.style.transform = `translateY(${first * ROW}px)`;
      body.replaceChildren(...seen.map((entry, i) => rowMake(entry, first + i)));
      scroller.setAttribute("aria-activedescendant", shown.entries.length ? `row-${cursor}` : "");
    }

    function show(made) {
      const other = !shown || shown.table !== made.table;
      shown = made;
      if (other) scroller.scrollTop = 0;
      cursor = other ? 0 : Math.min(cursor, Math.max(0, made.entries.length - 1));
      headMake(made);
      head.style.gridTemplateColumns = template(made.columns);
      spacer.style.height = `${made.entries.length * ROW}px`;
      rowsMake();
    }

    function cursorMove(to) {
      cursor = Math.max(0, Math.min(shown.entries.length - 1, to));
      const top = cursor * ROW;
      const room = scroller.clientHeight - head.offsetHeight;
      if (top < scroller.scrollTop) scroller.scrollTop = top;
      if (top + ROW > scroller.scrollTop + room) scroller.scrollTop = top + ROW - room;
      rowsMake();
    }

    function keyTake(event) {
      if (!shown || !shown.entries.length || event.target !== scroller) return false;
      const page = Math.max(1, Math.floor(scroller.clientHeight / ROW) - 2);
      const steps = {
        ArrowDown: cursor + 1,
        ArrowUp: cursor - 1,
        PageDown: cursor + page,
        PageUp: cursor - page,
        Home: 0,
        End: shown.entries.length - 1
      };
      if (event.key in steps)
        cursorMove(steps[event.key]);
      else if (event.key === " ")
        on.choose(shown.entries[cursor]);
      else if (event.key === "Enter")
        on.enter(shown.entries[cursor]);
      else if (event.key === "ContextMenu" || (event.shiftKey && event.key === "F10")) {
        const place = dom.byId(`row-${cursor}`).getBoundingClientRect();
        on.menu(shown.entries[cursor], place.left + 40, place.bottom);
      } else
        return false;
      return true;
    }

    scroller.addEventListener("scroll", rowsMake, {passive: true});
    scroller.addEventListener("keydown", (event) => {
      if (keyTake(event)) event.preventDefault();
    });
    return {show, refresh: rowsMake, shown: () => shown};
  }

  return {make};
})();
