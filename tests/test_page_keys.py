"""Every control of the page by keyboard alone, where test_page_use.py does not press its keys already."""

import json

import pytest

from heaptide_run import command
from page_browser import page_write
from report_files import Report, demo_folder, folder_of
from test_diff_page import made_folder, made_report


@pytest.fixture
def demo(tmp_path, show):
    return show(page_write(demo_folder(tmp_path), tmp_path / "demo.html"), "m=live")


@pytest.fixture
def ranked(tmp_path, show):
    """Three processes of ranks 0, 1 and 1, of which each holds another number of bytes in two kinds."""
    datas = []
    for pid, rank in ((10, 0), (11, 1), (12, 1)):
        kinds = {"heap": (pid, 1, pid, 1, 0, 0, pid), "mmap": (2 * pid, 1, pid, 1, 0, 0, pid)}
        report = Report(pid=pid, rank=rank, started=10**18 + pid, flags=16 | (pid == 10), live=3 * pid, kinds=kinds)
        for kind, amount in (("heap", pid), ("mmap", 2 * pid)):
            stack = report.stack(("jit", f"take_{kind}", 1), ("jit", "run" if kind == "heap" else "map", 2))
            report.site(stack, kind=kind, calls=(1, 0, 0, amount), live=(amount, 1), peak=(amount, 1))
        datas.append(report.data())
    return show(page_write(folder_of(tmp_path, *datas), tmp_path / "ranks.html"), "m=live&t=live")


def focused(shown):
    return shown.js("() => document.activeElement.id || document.activeElement.textContent")


def tab_to(shown, wanted, keys="Tab"):
    """Presses Tab until the focus is on the element with that id or text."""
    for _ in range(120):
        if focused(shown) == wanted:
            return
        shown.keys(keys)
    raise AssertionError(f"Tab does not come to {wanted}")


def menu_items(shown):
    return shown.tab.locator("#menu button span").all_inner_texts()


# ---- the graph


def test_every_mode(demo):
    modes = demo.js("() => [...document.querySelectorAll('#modes button')].map((button) => button.dataset.mode)")
    assert len(modes) == 7
    for number, mode in enumerate(modes, 1):
        demo.keys(str(number))
        assert demo.state()["mode"] == mode


def test_back_and_forward(demo):
    demo.keys("j", "ArrowDown", "z", "ArrowDown", "z")
    zoomed = demo.state()["zoom"]
    assert len(zoomed) == 2
    for key, length in (("[", 1), ("[", 0), ("]", 1), ("]", 2)):
        demo.keys(key)
        demo.tab.wait_for_function("length => heaptidePage.view.get().zoom.length === length", arg=length)
    assert demo.state()["zoom"] == zoomed


def test_hiding_and_showing(demo):
    demo.keys("j", "ArrowDown", "h")
    assert demo.state()["hidden"] == ["main"] and demo.box_place("main") is None
    tab_to(demo, "hidden: main ✕")
    demo.keys("Enter")
    assert demo.state()["hidden"] == [] and demo.box_place("main")
    demo.keys("j", "ArrowDown", "u")
    tab_to(demo, "only: main ✕")
    demo.keys("Enter")
    assert demo.state()["only"] is None


@pytest.mark.parametrize("key", ["m", "ContextMenu", "Shift+F10"])
def test_the_menu_of_a_box(demo, key):
    demo.keys("j", "ArrowDown", "ArrowDown", key)
    items = menu_items(demo)
    assert items[0] == "Zoom to this" and focused(demo).startswith("Zoom to this")
    demo.keys("ArrowDown")
    assert focused(demo).startswith("Zoom out")
    demo.keys("ArrowUp", "ArrowUp")  # around to the last
    assert focused(demo).startswith(items[-1])
    demo.keys("Escape")
    assert not demo.tab.locator("#menu").is_visible() and focused(demo) == "flame-place"


def test_every_item_of_the_menu(demo):
    """By its letter, or by arrows and Enter."""
    demo.tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    demo.keys("j", "ArrowDown", "ArrowDown", "ContextMenu", "Enter")
    assert len(demo.state()["zoom"]) == 2
    demo.keys("ContextMenu", "o")
    assert len(demo.state()["zoom"]) == 1
    demo.keys("ContextMenu", "w")
    assert demo.state()["tab"] == "callers" and demo.table()[0]["Function"] == "main"
    demo.keys("m", "f")
    assert demo.state()["search"] == "^\\[jit handle\\]$" and "12.5 KiB" in demo.text("#search-result")
    demo.keys("m", "c")
    demo.tab.wait_for_selector("#said.shown")
    assert demo.js("() => navigator.clipboard.readText()").startswith("[jit handle]")
    demo.keys("m", "s")
    assert demo.tab.locator("dialog[open] textarea").input_value() == "leak:^[jit handle]$"
    demo.keys("Tab", "Enter")
    demo.tab.wait_for_function("() => navigator.clipboard.readText().then((text) => text.startsWith('leak:'))")
    demo.keys("Escape")
    demo.tab.locator("dialog").wait_for(state="detached")
    demo.keys("m", "u")
    assert demo.state()["only"] == "[jit handle]"
    demo.keys("H", "j", "ArrowDown", "ArrowDown", "m", "h")
    assert demo.state()["hidden"] == ["[jit handle]"]


def test_crumbs_and_buttons_of_the_details(demo):
    demo.keys("j", "ArrowDown", "ArrowDown", "Enter")
    tab_to(demo, "main", "Shift+Tab")
    demo.keys("Enter")
    assert len(demo.state()["zoom"]) == 1
    for button, done in (
        ("Callers", lambda: demo.state()["tab"] == "callers"),
        ("Suppress…", lambda: "leak:^main$" in demo.tab.locator("dialog[open] textarea").input_value()),
    ):
        tab_to(demo, button)
        demo.keys("Enter")
        assert done(), button
    demo.keys("Escape")
    demo.tab.locator("dialog").wait_for(state="detached")
    tab_to(demo, "Unpin")
    demo.keys("Enter")
    assert demo.state()["pin"] is None


# ---- filters


def test_rank_and_process(ranked):
    ranked.keys("k")
    assert focused(ranked) == "process"
    tab_to(ranked, "rank")
    for rank, amount in ((0, 30), (1, 33 + 36)):
        ranked.keys("ArrowDown")
        assert ranked.state()["rank"] == rank and ranked.root_value() == amount
        assert sum(row["Live"] for row in ranked.table()) == amount
    ranked.keys("ArrowUp", "ArrowUp")
    assert ranked.state()["rank"] is None and ranked.root_value() == 99
    tab_to(ranked, "process", "Shift+Tab")
    ranked.keys("ArrowDown", "ArrowDown")
    assert ranked.state()["process"] == 1 and ranked.root_value() == 33


def test_function_of_a_thread_and_kinds(ranked):
    ranked.keys("k")
    tab_to(ranked, "entry")
    ranked.keys("ArrowDown")
    assert ranked.state()["entry"] is not None and ranked.root_value() in (33, 66)
    ranked.keys("ArrowUp", "Tab", "Space")
    assert ranked.state()["withoutKinds"] == ["heap"] and ranked.root_value() == 66
    ranked.keys("Tab", "Space")
    assert ranked.state()["withoutKinds"] == ["heap", "mmap"] and ranked.root_value() == 0
    ranked.keys("Space", "Shift+Tab", "Space")
    assert ranked.state()["withoutKinds"] == [] and ranked.root_value() == 99


def test_by_process(ranked):
    ranked.keys("b")
    assert not ranked.state()["byProcess"]
    assert sorted(box["name"] for box in ranked.boxes()["children"]) == ["[jit map]", "[jit run]"]


# ---- the timeline, the splitter, tiles


def test_a_range(demo):
    """On two seconds: from one end, from the other, along, and back to the whole."""
    demo.keys("n", "Shift+ArrowLeft", "Shift+ArrowLeft", "Alt+ArrowRight", "Alt+ArrowRight", "Alt+ArrowRight")
    assert demo.state()["range"] == pytest.approx([0.12, 1.92])
    demo.keys("ArrowLeft")
    assert demo.state()["range"] == pytest.approx([0.08, 1.88])
    demo.keys("ArrowRight", "ArrowRight")
    assert demo.state()["range"] == pytest.approx([0.16, 1.96])
    assert demo.text("#range-text").startswith("0.16 s to 1.96 s")
    demo.keys("Home")
    assert demo.state()["range"] == pytest.approx([0, 1.96])
    demo.keys("Alt+ArrowRight", "End")
    assert demo.state()["range"] == pytest.approx([0.04, 2])
    demo.keys("Alt+ArrowLeft")
    assert demo.state()["range"] is None, "all of it is no range"
    demo.keys("Shift+ArrowLeft")
    tab_to(demo, "range-clear", "Shift+Tab")
    demo.keys("Enter")
    assert demo.state()["range"] is None


def test_the_line_of_resident_memory(demo):
    pressed = lambda: demo.js("() => document.activeElement.getAttribute('aria-pressed')")  # noqa: E731
    tab_to(demo, "RSS")
    before = pressed()
    demo.keys("Enter")
    assert focused(demo) == "RSS" and pressed() != before


def test_the_splitter(demo):
    width = lambda: demo.tab.locator("#split > .side").bounding_box()["width"]  # noqa: E731
    before = width()
    tab_to(demo, "splitter")
    demo.keys("ArrowLeft", "ArrowLeft")
    wide = width()
    assert wide > before + 40
    demo.keys("ArrowRight")
    assert before < width() < wide - 10
    graph, plan = demo.js(
        "() => [document.getElementById('flame-place').clientWidth, heaptidePage.graph.chart().width]"
    )
    assert plan == graph, "the graph is drawn anew"


def test_tiles_and_tabs(demo):
    for name, mode, tab in (("peak", "peak", "peak"), ("temporaries", "temporaries", "temporaries")):
        demo.js("name => document.querySelector(`[data-tile=${name}]`).focus()", name)
        demo.keys("Enter")
        assert (demo.state()["mode"], demo.state()["tab"]) == (mode, tab)
    tab_to(demo, "Sizes")
    demo.keys("Enter")
    assert demo.state()["tab"] == "sizes" and demo.tab.locator("#sizes").is_visible()


def test_a_button_keeps_the_focus(demo):
    """It is made anew when the view changes."""
    for button, part in (("Hotspots", "tab"), ("Inverted", "inverted"), ("Allocated", "mode")):
        tab_to(demo, button)
        before = demo.state()[part]
        demo.keys("Enter")
        assert focused(demo) == button and demo.state()[part] != before
    head = "() => document.activeElement.title"
    demo.js("() => document.querySelector('#table-head button').focus()")
    demo.keys("Enter")
    assert demo.js(head) == "Sort by Site" and demo.state()["sort"] == {"column": 0, "up": True}
    demo.keys("Enter")
    assert demo.state()["sort"] == {"column": 0, "up": False}


# ---- tables and files


@pytest.mark.parametrize("key", ["ContextMenu", "Shift+F10"])
def test_the_menu_of_a_row(demo, key):
    demo.tab.locator("#tabs [data-tab=peak]").click()
    demo.keys("3", "q", "End", key)
    assert "Suppress this…" in menu_items(demo)
    demo.keys("z")
    assert demo.text("#crumbs").endswith("[demo+0x5678]"), "the smallest comes last"


def test_rows(tmp_path, show):
    report = Report()
    for number in range(100):
        report.site(report.stack(("jit", f"site_{number}", 1)), live=(1000 - number, 1), peak=(1, 1))
    shown = show(page_write(folder_of(tmp_path, report.data()), tmp_path / "page.html"), "m=live&t=live")
    shown.keys("q", "PageDown", "PageDown", "PageUp", "ArrowDown", "ArrowUp", "Space")
    page = shown.js("() => Number(document.getElementById('table').getAttribute('aria-activedescendant').slice(4))")
    assert 0 < page < 60 and shown.text("#details h2") == f"[jit site_{page}]"
    shown.keys("End", "Space")
    assert shown.text("#details h2") == "[jit site_99]" and shown.tab.locator("#row-99").is_visible()
    shown.keys("Home", "Enter")
    assert shown.text("#crumbs").endswith("[jit site_0]")


def test_every_file(demo):
    files = {"f": "heaptide-live.png", "F": "heaptide-live.svg", "t": "heaptide-timeline.png",
             "T": "heaptide-timeline.svg", "b": "heaptide-sizes.png", "B": "heaptide-sizes.svg",
             "c": "heaptide-leaks.csv"}  # fmt: skip
    for key, name in files.items():
        with demo.tab.expect_download() as download:
            demo.keys("e", key)
        assert download.value.suggested_filename == name


# ---- the page of heaptide diff


def test_the_diffs_page(tmp_path, show):
    folders = []
    for side, name in enumerate(("base", "new")):
        reports = [made_report(side, pid=pid, argv=[f"./{pid}"], flags=17 - pid // 2) for pid in (1, 2)]
        folders.append(made_folder(tmp_path / name, *reports))
    assert command("diff", *folders, "--html", tmp_path / "diff.html").status == 1
    shown = show(tmp_path / "diff.html", json.dumps({"figure": 1}))
    shown.tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for number in range(4):
        shown.keys(str(number + 1))
        assert shown.state()["figure"] == number
    shown.keys("2")
    tab_to(shown, "pair")
    shown.keys("ArrowDown")
    assert shown.state()["pair"] == 0
    shown.tab.locator("#flame-place").focus()
    shown.keys("ArrowDown", "ArrowDown", "z")
    zoomed = shown.state()["zoom"]
    assert len(zoomed) == 2
    shown.keys("C")
    shown.tab.wait_for_function("() => navigator.clipboard.readText().then((text) => text.includes('main'))")
    shown.keys("Backspace")
    assert shown.state()["zoom"] == zoomed[:1]
    shown.tab.locator(".change").first.focus()
    shown.keys("Enter")
    assert shown.state()["pin"] and shown.tab.locator(".change[aria-selected=true]").count() == 1
    with shown.tab.expect_download() as download:
        shown.keys("e", "m")
    assert download.value.suggested_filename == "heaptide-marks.csv"
