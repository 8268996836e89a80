"""Every button of the page by mouse, in light and dark, wide and narrow, and keys that no other test presses."""

import csv
import io

import pytest

from page_browser import NARROW, page_write
from report_files import folder_of, make_report
from test_page_use import saved

WIDE = {"width": 1280, "height": 800}
SWITCHES = ("inverted", "upright", "runtime", "fold", "lines", "byProcess")


@pytest.fixture
def page_of_two(tmp_path):
    """The page of two processes."""
    one, other = make_report.demo(), make_report.demo()
    other.process["pid"] = 101
    folder = folder_of(tmp_path, *(report.data(make_report.DEMO_POINTS) for report in (one, other)))
    return page_write(folder, tmp_path / "page.html")


def all_of(shown, selector, attribute):
    return shown.js(f"() => [...document.querySelectorAll('{selector}')].map(each => each.dataset.{attribute})")


def opens_and_closes(shown, button, text):
    shown.tab.locator(button).click()
    assert text in shown.text("dialog[open]")
    shown.tab.get_by_role("button", name="Close").click()
    assert shown.tab.locator("dialog[open]").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_every_button(page_of_two, show, viewport, scheme):
    shown = show(page_of_two, "m=live", viewport=viewport, color_scheme=scheme)
    for mode in all_of(shown, "#modes button", "mode"):
        shown.tab.locator(f"#modes [data-mode={mode}]").click()
        assert shown.state()["mode"] == mode
    shown.tab.locator("#modes [data-mode=live]").click()
    for part in SWITCHES:
        before = shown.state()[part]
        for wanted in (not before, before):
            shown.tab.locator(f"#toggles [data-part={part}]").click()
            assert shown.state()[part] == wanted, part
    series = shown.text("#series")
    shown.tab.locator("#series").click()
    assert shown.text("#series") != series
    opens_and_closes(shown, "#about", "heaptide")
    opens_and_closes(shown, "#help", "Zoom")
    theme = shown.state()["theme"]
    shown.tab.locator("#theme").click()
    assert shown.state()["theme"] != theme
    for tab in all_of(shown, "#tabs button", "tab"):
        shown.tab.locator(f"#tabs [data-tab={tab}]").click()
        assert shown.tab.locator(f"#tabs [data-tab={tab}]").get_attribute("aria-selected") == "true"


def test_the_splitter_by_mouse(page_of_two, show):
    shown = show(page_of_two, "m=live", viewport=WIDE)
    before = shown.tab.locator("#split > .side").bounding_box()["width"]
    place = shown.tab.locator("#splitter").bounding_box()
    shown.tab.mouse.move(place["x"] + 2, place["y"] + 100)
    shown.tab.mouse.down()
    shown.tab.mouse.move(place["x"] - 80, place["y"] + 100, steps=4)
    shown.tab.mouse.up()
    assert shown.tab.locator("#split > .side").bounding_box()["width"] > before + 40


def test_every_table_as_csv(page_of_two, show, tmp_path):
    shown = show(page_of_two, "m=live")
    tabs = all_of(shown, "#tabs button", "tab")
    assert len(tabs) >= 10
    for tab in tabs:
        shown.tab.locator(f"#tabs [data-tab={tab}]").click()
        title = shown.text(f"#tabs [data-tab={tab}]")
        name, data = saved(shown, f"Table {title} as CSV", tmp_path)
        rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
        assert name == f"heaptide-{tab}.csv" and len(rows) == len(shown.table()) + 1, tab


def test_keys_of_menus_and_files(page_of_two, show):
    shown = show(page_of_two, "m=live")
    shown.tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.keys("j", "ArrowDown", "ArrowDown", "c")
    shown.tab.wait_for_selector("#said.shown")
    assert shown.text("#said") == "stack copied"
    shown.keys("m")
    assert shown.tab.locator("#menu").is_visible()
    shown.keys("Escape")
    assert not shown.tab.locator("#menu").is_visible()
    with shown.tab.expect_download() as download:
        shown.keys("e", "f")
    assert download.value.suggested_filename.endswith(".png")
    shown.keys("p")
    assert shown.state()["process"] == 0
    shown.keys("P")
    assert shown.state()["process"] is None
