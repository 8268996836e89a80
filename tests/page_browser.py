"""Opens the page of `heaptide flame` in the machine's Chromium, and reads what it shows."""

import contextlib
import json
import shutil
from pathlib import Path

import pytest

from heaptide_run import command

WIDE = {"width": 1280, "height": 800}
PROBES = Path(__file__).parent / "page"
NARROW = {"width": 420, "height": 800}


def chromium_path():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def page_write(folder, out, *options):
    """Runs `heaptide flame`; returns the page's file."""
    done = command("flame", folder, "-o", out, *options)
    assert done.status == 0, done.describe()
    return Path(out)


class Shown:
    """One page in one window of the browser. `errors`: what its scripts complained of; `asked`: every address that was
    asked for."""

    def __init__(self, tab, file):
        self.tab, self.file = tab, Path(file)
        self.errors, self.asked = [], []
        tab.on("pageerror", lambda error: self.errors.append(str(error)))
        tab.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        tab.on("request", lambda request: self.asked.append(request.url))

    def open(self, fragment=""):
        self.tab.goto("about:blank")
        self.tab.goto(self.file.as_uri() + (f"#{fragment}" if fragment else ""))
        self.tab.wait_for_selector("html[data-ready]", timeout=30_000)
        return self

    def js(self, expression, argument=None):
        return self.tab.evaluate(expression, argument)

    def probe(self, name):
        """What a function in tests/page/ finds."""
        return self.js((PROBES / name).read_text())

    def keys(self, *names):
        for name in names:
            self.tab.keyboard.press(name)

    def state(self):
        return self.js("() => heaptidePage.view.get()")

    def fragment(self):
        return self.js("() => location.hash.slice(1)")

    def text(self, selector):
        return self.tab.locator(selector).inner_text()

    def root_value(self):
        """What the whole graph weighs."""
        return self.js("() => heaptidePage.graph.root().value")

    def boxes(self, depth_limit=40):
        """The graph's boxes as a tree: {name, value, self, blocks, children}."""
        return self.js(
            """limit => {
              const take = (box) => {
                const children = box.depth < limit ? heaptidePage.tree.childrenOf(box) : [];
                return { name: heaptidePage.tree.nameOf(box), value: box.value, self: box.self, blocks: box.blocks,
                         children: children.map(take) };
              };
              return take(heaptidePage.graph.root());
            }""",
            depth_limit,
        )

    def table(self):
        """The table's rows, as {column: exact value}, in the order shown."""
        return self.js(
            """() => { const made = heaptidePage.table();
              return made.entries.map((entry) => Object.fromEntries(
                made.cellsOf(entry).map((value, i) => [made.columns[i].label, value]))); }"""
        )

    def seen_rows(self):
        """What stands in the table's rows on the screen: lists of texts."""
        return [row.locator("span[role=cell]").all_inner_texts() for row in self.tab.locator("#table-body .row").all()]

    def box_place(self, name):
        """The middle of the first box of that name, as it lies in the window; None: too narrow to be drawn."""
        return self.js("name => heaptidePage.placeOf(name)", name)

    def click_box(self, name, **how):
        self.tab.mouse.click(*self.box_place(name), **how)


@pytest.fixture(scope="session")
def browser():
    path = chromium_path()
    if not path:
        pytest.skip("no Chromium here (Ubuntu has it as a snap only, which no container can run)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def show(browser):
    """show(file, fragment, **context) opens a page; afterwards no script may have complained and nothing but the
    page's own file may have been asked for."""
    with contextlib.ExitStack() as stack:
        opened = []

        def show_one(file, fragment="", **context):
            context = {"viewport": WIDE, "color_scheme": "light", "accept_downloads": True, **context}
            window = browser.new_context(**context)
            stack.callback(window.close)
            shown = Shown(window.new_page(), file)
            opened.append(shown)
            return shown.open(fragment)

        yield show_one
        for shown in opened:
            assert shown.errors == [], shown.errors
            own = {shown.file.as_uri(), "about:blank"}
            strangers = [address for address in shown.asked if address.split("#")[0] not in own]
            assert all(address.startswith(("blob:", "data:")) for address in strangers), strangers


def json_of(folder, *options):
    """The main process's report, lists uncut."""
    done = command("report", folder, "--json", "--top", "1000000", *options)
    return [json.loads(line) for line in done.stdout.splitlines()]


def site_name(row):
    """What the page calls the site of a row of the report."""
    site = row["site"]
    return site["function"] or f"[{(site['module'] or '').rsplit('/', 1)[-1]}+{site['offset']:#x}]"
