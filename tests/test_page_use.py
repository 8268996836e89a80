"""The page of `heaptide flame` in use: by mouse, by keyboard alone, light and dark, wide and narrow."""

import csv
import io
from xml.etree import ElementTree

import pytest

from heaptide_run import command
from page_browser import NARROW, json_of, page_write, site_name
from report_files import Report, demo_folder, folder_of, make_report

MAIN, SCANNED, PYTHON = make_report.MAIN, make_report.SCANNED, make_report.PYTHON


@pytest.fixture
def demo(tmp_path, show):
    return show(page_write(demo_folder(tmp_path), tmp_path / "demo.html"), "m=live")


# ---- by mouse


def test_mouse_zoom_history_and_crumbs(demo):
    demo.click_box("main")
    assert [crumb.split()[0] for crumb in demo.tab.locator("#crumbs button").all_inner_texts()] == ["all", "main"]
    demo.click_box("[jit handle]")
    assert len(demo.state()["zoom"]) == 2 and "12.5 KiB" in demo.text("#details")
    demo.tab.go_back()
    assert len(demo.state()["zoom"]) == 1
    demo.tab.go_forward()
    assert len(demo.state()["zoom"]) == 2
    demo.tab.locator("#crumbs button").first.click()
    assert demo.state()["zoom"] == []


def test_mouse_hover_tells_and_shift_click_pins(demo):
    demo.tab.mouse.move(*demo.box_place("[jit handle]"))
    tip = demo.text("#tip")
    assert "[jit handle]" in tip and "12.5 KiB" in tip and "64.2 %" in tip
    assert "hover" in demo.text("#details")
    demo.tab.keyboard.down("Shift")
    demo.click_box("[jit handle]")
    demo.tab.keyboard.up("Shift")
    demo.tab.mouse.move(5, 5)
    assert demo.state()["zoom"] == [] and "blocks\n100" in demo.text("#details")
    demo.tab.get_by_role("button", name="Unpin").click()
    assert demo.state()["pin"] is None


def test_mouse_menu_hides_and_suppresses(demo):
    demo.click_box("[jit handle]", button="right")
    demo.tab.get_by_role("menuitem", name="Suppress this").click()
    dialog = demo.tab.locator("dialog[open]")
    assert dialog.locator("textarea").input_value() == "leak:^[jit handle]$"
    assert "12.5 KiB in 100 leaked blocks at 1 sites" in dialog.inner_text()
    demo.keys("Escape")
    demo.click_box("main", button="right")
    demo.tab.get_by_role("menuitem", name="Hide this function").click()
    assert demo.box_place("main") is None and demo.box_place("[jit handle]")
    demo.tab.get_by_role("button", name="hidden: main").click()
    assert demo.box_place("main")


def test_suppressions_offered_work(demo, tmp_path):
    """The line that the page offers, read by heaptide report."""
    demo.click_box("[jit handle]", button="right")
    demo.tab.get_by_role("menuitem", name="Suppress this").click()
    file = tmp_path / "supp.txt"
    file.write_text(demo.tab.locator("dialog[open] textarea").input_value() + "\n")
    done = command("report", tmp_path / "reports", "--print-suppressions", "--supp", file)
    assert b"matched 12800 bytes in 100 blocks" in done.stdout


def test_a_frame_without_a_name_is_suppressed_by_its_module(demo):
    demo.click_box("[demo+0x1234]", button="right")
    demo.tab.get_by_role("menuitem", name="Suppress this").click()
    assert demo.tab.locator("dialog[open] textarea").input_value() == "leak:^/opt/demo$"
    assert "6.25 KiB in 100 leaked blocks at 1 sites" in demo.text("dialog[open]")


def test_mouse_copies_the_stack(demo):
    demo.tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    demo.click_box("[jit handle]")
    demo.tab.get_by_role("button", name="Copy stack").click()
    demo.tab.wait_for_selector("#said.shown")
    assert demo.text("#said") == "stack copied"
    assert demo.js("() => navigator.clipboard.readText()").splitlines() == ["[jit handle]", "main  /opt/demo.py:40"]


def test_mouse_range_and_edges(demo):
    place = demo.tab.locator("#timeline").bounding_box()
    middle = place["y"] + place["height"] / 2
    demo.tab.mouse.move(place["x"] + 200, middle)
    demo.tab.mouse.down()
    demo.tab.mouse.move(place["x"] + 600, middle, steps=4)
    demo.tab.mouse.up()
    start, end = demo.state()["range"]
    assert 0 < start < end < 2 and "heap" in demo.text("#range-text")
    demo.tab.mouse.move(place["x"] + 600, middle)
    demo.tab.mouse.down()
    demo.tab.mouse.move(place["x"] + 800, middle, steps=4)
    demo.tab.mouse.up()
    assert demo.state()["range"][0] == start and demo.state()["range"][1] > end
    demo.tab.locator("#range-clear").click()
    assert demo.state()["range"] is None


def mark_place(demo, seconds):
    """Where a time stands on the timeline of two seconds."""
    place = demo.tab.locator("#timeline").bounding_box()
    left, right = 66, 12
    return place["x"] + left + (place["width"] - left - right) * seconds / 2, place["y"] + 60


def test_mouse_on_a_mark_sets_its_iteration(demo):
    demo.tab.mouse.move(*mark_place(demo, 0.7))
    assert demo.text("#range-text").startswith("epoch 2 0.7 s, 7.81 KiB live")
    for at, until in ((0.7, 1.0), (1.3, 2.0), (0.1, 2.0)):  # the last of a name goes on to the end
        demo.tab.mouse.click(*mark_place(demo, at))
        assert demo.state()["range"] == [at, until]
    demo.tab.mouse.click(*mark_place(demo, 0.55))
    assert demo.state()["range"] == [0.1, 2], "beside the marks nothing is taken hold of"


def test_keys_go_from_iteration_to_iteration(demo):
    ranges = []
    for key in (*"..", "x", *",,"):
        demo.keys(key)
        ranges.append(demo.state()["range"])
    assert ranges == [[0.1, 2], [0.1, 2], None, [0.1, 2], [0.1, 2]], "there is one of `load`"
    demo.tab.mouse.click(*mark_place(demo, 0.4))
    ranges = []
    for key in "..,....":
        demo.keys(key)
        ranges.append(demo.state()["range"][0])
    assert ranges == [0.7, 1.0, 0.7, 1.0, 1.3, 1.3, 1.3]
    assert demo.text("#said") == "no more of these marks"


def test_calls_over_time_are_the_reports(demo):
    sums = """() => {
      const page = heaptidePage;
      const {allocations, temporaries} = page.timeline.seriesOf(page.data(), page.view.get()).calls;
      return [allocations(-1, 3), temporaries(-1, 3), allocations(0.1, 0.2), allocations(0.1, 0.15)];
    }"""
    assert demo.js(sums) == [2007, 900, 105, pytest.approx(52.5)]
    demo.tab.mouse.move(*mark_place(demo, 0.25))
    assert "1.05 k/s allocations" in demo.text("#range-text"), "105 in a tenth of a second"


def test_marks_of_two_processes(tmp_path, show):
    """Each at its own time after the first process's start; the second is of a recorder that told no calls."""
    early, late = (Report(pid=pid, started=10**18 + pid * 10**9, duration=3 * 10**9) for pid in (1, 2))
    for report in (early, late):
        report.sample(0)
        report.sample(2 * 10**9, heap=5)
        for at in (1, 2):
            report.mark("round", at * 5 * 10**8, 7)
    early.called(0, 0)
    early.called(40, 30)
    shown = show(page_write(folder_of(tmp_path, early.data(), late.data()), tmp_path / "two.html"))
    series = "const all = heaptidePage.timeline.seriesOf(heaptidePage.data(), heaptidePage.view.get());"
    marks = shown.js(f"() => {{ {series} return all.marks.map((mark) => [mark.at, mark.until, mark.number]); }}")
    assert marks == [[0.5, 1, 0], [1, 3, 1], [1.5, 2, 0], [2, 4, 1]]
    assert shown.js(f"() => {{ {series} return all.calls.allocations(0, 1); }}") == 20
    shown.keys("p", "p")
    assert shown.state()["process"] == 1 and shown.js(f"() => {{ {series} return all.calls; }}") is None
    assert shown.errors == []


def test_estimates_are_said_to_be_such(tmp_path, show):
    report = make_report.demo()
    report.process["flags"] |= make_report.ESTIMATED
    for viewport in ({"width": 1280, "height": 800}, NARROW):
        shown = show(page_write(folder_of(tmp_path, report.data()), tmp_path / "page.html"), viewport=viewport)
        assert shown.text("#estimated") == "estimates" and shown.probe("overlap.js") == []
    shown.keys("a")
    assert "estimated from a sample" in shown.text("dialog[open]")


def kinds_at(demo, seconds):
    """{kind: bytes} of the timeline at a time."""
    return demo.js(
        """seconds => { const { timeline, data, view } = heaptidePage;
          const areas = timeline.seriesOf(data(), view.get()).areas;
          return Object.fromEntries(areas.map((one) => [one.name, timeline.valueAt(one, seconds)])); }""",
        seconds,
    )


def test_only_stacks_with_a_function(demo):
    """Graph, tables and timeline keep to them; by the menu and by keys."""
    demo.click_box("[jit handle]", button="right")
    demo.tab.get_by_role("menuitem", name="Only stacks with this function").click()
    assert demo.state()["only"] == "[jit handle]" and demo.root_value() == 12_800
    for tab, count in (("leaks", 1), ("hotspots", 1), ("live", 1), ("python", 0)):
        demo.tab.locator(f"#tabs [data-tab={tab}]").click()
        assert [row["Site"] for row in demo.table()] == ["[jit handle]"] * count, tab
    assert [kinds_at(demo, at)["heap"] for at in (0.5, 1.7, 2)] == [100, 400, 12_800]
    assert "sites that were followed" in demo.text("#series-legend") and "RSS" not in demo.text("#series-legend")
    demo.tab.get_by_role("button", name="only: [jit handle]").click()
    assert demo.state()["only"] is None and kinds_at(demo, 0.5) == {"heap": 6000}
    demo.keys("3", "j", "ArrowDown", "u")
    assert demo.state()["only"] == "main" and demo.root_value() == 12_800 + 6400 + 128
    assert demo.state()["mode"] == "peak"
    demo.keys("H")
    assert demo.state()["only"] is None and demo.root_value() == 12_800 + 6400 + 128 + 600


def test_filter_of_a_thread_is_in_the_timeline_too(demo):
    demo.tab.locator("#entry").select_option(label="load")
    assert demo.root_value() == 600 and kinds_at(demo, 2) == {"python": 600}
    demo.tab.locator("#entry").select_option(label="main")
    assert demo.root_value() == 12_800 + 6400 + 128 and kinds_at(demo, 0.9) == {"heap": 200}


# ---- threads of their own (heaptide run --per-thread)


def two_processes_with_threads():
    """Of three threads through one function, two of one name, and Python's; a second process has another thread."""
    report = Report(duration=2_000_000_000, peak=660, live=330, flags=MAIN | SCANNED | PYTHON,
                    kinds={"heap": (330, 33, 660, 70, 37, 7, 7000), "python": (300, 3, 300, 3, 0, 0, 300)})  # fmt: skip
    loader = report.owner(11, "loader")
    pools = [report.owner(12, "pool"), report.owner(13, "pool")]
    stack = report.stack(("jit", "take", 1), ("jit", "run", 2))
    line = report.stack(("python", "make", "/m.py", 3))
    for owner, amount in ((loader, 100), (pools[0], 30), (pools[1], 200)):
        site = report.site(stack, calls=(amount, 3, 2, 10 * amount), live=(amount, 3), peak=(2 * amount, 6),
                           owner=owner)  # fmt: skip
        report.leak(site, direct=(amount // 10, 1))
        report.curve(site, [amount // 2, amount, amount * 2, amount, amount])
        made = report.site(line, kind="python", calls=(2, 0, 0, amount), live=(amount, 2), peak=(amount, 2),
                           owner=owner)  # fmt: skip
        report.type(made, "dict", 1, amount - 20)
        report.leak(made, direct=(20, 1))
        report.lost_type(made, "Ring", 1, 20)
    for i in range(9):
        report.sample(250_000_000 * i, heap=660, python=330)
    other = Report(pid=101, duration=1_000_000_000, flags=SCANNED, peak=70, live=70,
                   kinds={"heap": (70, 1, 70, 1, 0, 0, 70)})  # fmt: skip
    other.site(other.stack(("jit", "take", 1)), calls=(1, 0, 0, 70), live=(70, 1), peak=(70, 1),
               owner=other.owner(11, "loader"))  # fmt: skip
    return report.data([500_000_000 * i for i in range(5)]), other.data()


@pytest.fixture
def threaded(tmp_path, show):
    page = page_write(folder_of(tmp_path, *two_processes_with_threads()), tmp_path / "p.html")
    return show(page, "m=live&t=live")


def live_of(shown):
    """{(site, kind): bytes} of the table Live."""
    return {(row["Site"], row["Kind"]): row["Live"] for row in shown.table()}


WHOLE = {("[jit take]", "heap"): 330, ("make", "python"): 330}


def test_thread_filter_by_mouse(threaded):
    """Graph, tables and timeline have what that thread allocated; names that several have can be chosen as one."""
    labels = threaded.tab.locator("#thread option").all_inner_texts()
    single = ["loader 11 (demo 100)", "pool 12 (demo 100)", "pool 13 (demo 100)", "loader 11 (demo 101)"]
    assert labels == ["all", "loader, 2 threads", "pool, 2 threads", *single]
    assert threaded.root_value() == 330 + 330 + 70
    for index, amount in ((3, 100), (4, 30), (5, 200)):
        threaded.tab.locator("#thread").select_option(index=index)
        assert threaded.root_value() == 2 * amount
        assert live_of(threaded) == {("[jit take]", "heap"): amount, ("make", "python"): amount}
    threaded.tab.locator("#thread").select_option(index=2)
    assert live_of(threaded) == {("[jit take]", "heap"): 230, ("make", "python"): 230}
    threaded.tab.locator("#thread").select_option(index=6)
    assert live_of(threaded) == {("[jit take]", "heap"): 70}
    threaded.tab.locator("#thread").select_option(label="all")
    assert sum(row["Live"] for row in threaded.table()) == 330 + 330 + 70


def test_thread_filter_in_every_table(threaded):
    threaded.tab.locator("#thread").select_option(index=5)
    columns = {
        "leaks": [{"Site": "[jit take]", "Bytes": 20, "Direct": 20, "Indirect": 0, "Blocks": 1}],
        "peak": [{"Site": "[jit take]", "Bytes": 400, "Blocks": 6}, {"Site": "make", "Bytes": 200, "Blocks": 2}],
        "hotspots": [
            {"Site": "[jit take]", "Allocations": 200, "Bytes": 2000, "Frees": 3},
            {"Site": "make", "Allocations": 2, "Bytes": 200, "Frees": 0},
        ],
        "temporaries": [{"Site": "[jit take]", "Temporaries": 2, "Allocations": 200}],
        "python": [
            {"Site": "make", "Live": 180, "Lost": "", "Objects": 1},
            {"Site": "make", "Live": 20, "Lost": "lost", "Objects": 1},
        ],
    }
    for tab, wanted in columns.items():
        threaded.tab.locator(f"#tabs [data-tab={tab}]").click()
        shown = [{key: row[key] for key in wanted[0]} for row in threaded.table()]
        assert shown == wanted, tab


def test_thread_filter_in_the_timeline_and_ranges(threaded):
    threaded.tab.locator("#thread").select_option(index=3)
    assert [kinds_at(threaded, at).get("heap") for at in (0, 0.5, 1, 1.9)] == [50, 100, 200, 100]
    threaded.js("() => heaptidePage.view.change({ range: [0.5, 1.1] })")
    assert live_of(threaded) == {("[jit take]", "heap"): 200}
    threaded.tab.locator("#thread").select_option(label="pool, 2 threads")
    assert live_of(threaded) == {("[jit take]", "heap"): 460} and threaded.root_value() == 460


def test_thread_filter_by_keys_and_address(threaded, show):
    threaded.keys("j", "y", "y", "y")
    assert threaded.state()["thread"] == 2 and live_of(threaded)["[jit take]", "heap"] == 100
    other = show(threaded.file, threaded.fragment())
    assert other.state() == threaded.state() and live_of(other)["[jit take]", "heap"] == 100
    threaded.keys("Y", "Y", "Y")
    assert threaded.state()["thread"] is None and "thr=" not in threaded.fragment()
    threaded.keys("k", "Tab")
    assert threaded.js("() => document.activeElement.id") == "thread"
    threaded.keys("ArrowDown")
    assert threaded.state()["thread"] == 0
    threaded.tab.go_back()
    assert threaded.state()["thread"] is None
    threaded.open("thr=99")
    assert threaded.state()["thread"] is None


def test_without_threads_of_their_own_there_is_no_such_filter(demo):
    assert demo.tab.locator("#thread-label").is_hidden() and demo.text("#entry-word") == "Thread"
    demo.keys("j", "y")
    assert demo.state()["thread"] is None and "--per-thread" in demo.text("#said")


def test_lost_objects_have_types_too(threaded):
    threaded.tab.locator("#tabs [data-tab=python]").click()
    types = {row["Lost"]: row["Types"] for row in threaded.table()}
    assert set(types) == {"", "lost"} and "dict" in types[""] and "Ring" in types["lost"]


def test_marks_table(demo):
    """A click makes a name stand out and . go through it alone, a double click makes it the range; so do keys."""
    demo.tab.locator("#tabs [data-tab=marks]").click()
    assert [row["Name"] for row in demo.table()] == ["epoch", "load"]
    demo.tab.locator("#table-body .row", has_text="load").click()
    demo.keys(".")
    assert demo.state()["mark"] == "load" and demo.state()["range"] == [0.1, 2.0]
    demo.tab.locator("#table-body .row", has_text="epoch").dblclick()
    assert demo.state()["mark"] == "epoch" and demo.state()["range"] == [0.4, 1.3]
    demo.js("() => heaptidePage.view.change({ range: [0.5, 1.1] })")
    (row,) = demo.table()
    assert [row[label] for label in ("Name", "Times", "First", "Last")] == ["epoch", 2, 0.7, 1.0]
    assert row["Growth each"] == row["Live, last"] - row["Live, first"] == 3000
    demo.keys("Escape", "Escape", "q", "End", "Enter")
    assert demo.state()["mark"] == "load" and demo.state()["range"] == [0.1, 2.0]
    demo.keys("Home", "Space")
    assert demo.state()["mark"] == "epoch"


def test_mouse_sorts_and_opens_rows(demo):
    demo.tab.locator("#tabs [data-tab=hotspots]").click()
    assert demo.state()["mode"] == "allocations"
    demo.tab.get_by_role("columnheader", name="Frees").click()
    assert [row["Frees"] for row in demo.table()] == [900, 900, 0, 0]
    demo.tab.get_by_role("columnheader", name="Frees").click()
    assert [row["Frees"] for row in demo.table()] == [0, 0, 900, 900]
    demo.tab.locator("#table-body .row", has_text="load").dblclick()
    assert "load" in demo.text("#crumbs") and len(demo.state()["zoom"]) == 1


# ---- by keyboard alone


def test_keyboard_alone(demo):
    demo.keys("1")
    assert demo.state()["mode"] == "leaked"
    demo.keys("j", "ArrowDown", "ArrowDown")
    assert "[jit handle]" in demo.text("#details h2")
    demo.keys("ArrowRight")
    assert "[jit handle]" not in demo.text("#details h2")
    demo.keys("ArrowLeft", "Enter")
    assert len(demo.state()["zoom"]) == 2
    demo.keys("Backspace")
    assert len(demo.state()["zoom"]) == 1
    demo.keys("[")
    demo.tab.wait_for_function("() => heaptidePage.view.get().zoom.length === 2")
    demo.keys("0", "m", "s")
    assert demo.tab.locator("dialog[open] textarea").input_value() == "leak:^[jit handle]$"
    demo.keys("Escape", "w")
    assert demo.state()["tab"] == "callers" and demo.table()[0]["Function"] == "main"
    demo.keys("v", "i", "r", "f", "l")
    state = demo.state()
    assert state["inverted"] and state["upright"] and state["runtime"] and state["lines"] and not state["fold"]


def test_keyboard_search_tables_range(demo):
    demo.keys("/")
    demo.tab.keyboard.type("handle")
    assert demo.tab.locator("#search-result").get_attribute("data-value") == "12800"
    demo.keys("Escape", "Escape")
    assert demo.state()["search"] == ""
    demo.keys("t", "T", "o", "O")
    assert demo.state()["tab"] == "leaks" and demo.state()["sort"]["up"]
    demo.keys("5", "q", "ArrowDown", "Enter")
    assert demo.state()["zoom"]
    demo.keys("n", "Shift+ArrowLeft", "Shift+ArrowLeft", "Alt+ArrowRight")
    start, end = demo.state()["range"]
    assert start == pytest.approx(0.04) and end == pytest.approx(1.92)
    demo.keys("x")
    assert demo.state()["range"] is None
    demo.keys("k")
    assert demo.js("() => document.activeElement.id") == "entry"


def test_question_mark_lists_every_key(demo):
    demo.keys("?")
    shown = demo.text("dialog[open]")
    for word in ("Suppress this", "Search", "Next table", "Zoom out by one", "Export", "Leaked"):
        assert word in shown
    demo.keys("Escape")
    demo.keys("a")
    assert "Something was not seen." in demo.text("dialog[open]") and "./demo 1000" in demo.text("dialog[open]")


def test_every_control_has_the_focus_by_tab(demo):
    """Tab goes through all controls, and shows where it is."""
    reached = set()
    for _ in range(80):
        demo.keys("Tab")
        reached.add(demo.js("() => document.activeElement.id || document.activeElement.textContent"))
    wanted = {"entry", "export", "help", "timeline", "search", "flame-place", "table", "splitter", "Inverted", "Peak"}
    assert wanted <= reached, wanted - reached


# ---- the address, light and dark, narrow


def test_the_address_holds_the_whole_view(demo, show):
    demo.keys("4", "i", "f", "d")
    demo.tab.locator("#search").fill("handle|main")
    demo.tab.locator("#tabs [data-tab=peak]").click()
    demo.click_box("main")
    demo.keys("n", "ArrowLeft", "Shift+ArrowLeft", "g")
    fragment, state = demo.fragment(), demo.state()
    other = show(demo.file, fragment)
    assert other.state() == state and other.text("#crumbs") == demo.text("#crumbs")


@pytest.mark.parametrize(
    "fragment", ["%%%", "m=no&t=no&r=9-1&z=1.2.x&k=[&s=-99&p=77&e=9999999&th=pink&f=88888888", "r=-1-0&h={}"]
)
def test_a_fragment_of_nonsense_does_no_harm(demo, fragment):
    demo.open(fragment)
    assert demo.root_value() > 0 and demo.state()["mode"] == "leaked"


def test_light_and_dark_follow_the_system(demo):
    back = "() => getComputedStyle(document.body).backgroundColor"
    light = demo.js(back)
    demo.tab.emulate_media(color_scheme="dark")
    demo.tab.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    assert demo.js(back) != light
    demo.keys("d")
    assert demo.state()["theme"] == "light" and demo.js(back) == light


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 800}, NARROW])
def test_nothing_overlaps_and_all_can_be_read(demo, show, viewport, scheme):
    """WCAG's 4.5 to 1 for text."""
    shown = show(demo.file, "m=live&t=live", viewport=viewport, color_scheme=scheme)
    assert shown.probe("overlap.js") == [] and shown.probe("contrast.js") == []


def test_narrow_windows_work_too(demo, show):
    shown = show(demo.file, "m=live", viewport=NARROW)
    shown.tab.locator("#flame").scroll_into_view_if_needed()
    shown.click_box("main")
    assert len(shown.state()["zoom"]) == 1


# ---- what can be taken away


def saved(shown, item, tmp_path):
    """Chooses from the Export menu; returns the file's name and bytes."""
    shown.tab.locator("#export").click()
    with shown.tab.expect_download() as waiting:
        shown.tab.get_by_role("menuitem", name=item).click()
    path = tmp_path / "download"
    waiting.value.save_as(path)
    return waiting.value.suggested_filename, path.read_bytes()


@pytest.mark.parametrize(
    ("chart", "word"), [("Flame graph", "[jit handle]"), ("Timeline", "0 s"), ("Block sizes", "64 B")]
)
def test_pictures(demo, tmp_path, chart, word):
    name, data = saved(demo, f"{chart} as SVG", tmp_path)
    texts = [element.text for element in ElementTree.fromstring(data).iter("{http://www.w3.org/2000/svg}text")]
    assert name.endswith(".svg") and word in texts
    name, data = saved(demo, f"{chart} as PNG", tmp_path)
    assert name.endswith(".png") and data.startswith(b"\x89PNG\r\n") and len(data) > 2000


def test_tables_as_csv(demo, tmp_path):
    demo.keys("t", "t", "t", "t", "t", "t", "t", "t", "t", "t", "t", "t")  # all around, to LEAKS again
    name, data = saved(demo, "Table Leaks as CSV", tmp_path)
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    assert name == "heaptide-leaks.csv"
    (report,) = json_of(tmp_path / "reports")
    assert [row["Site"] for row in rows] == [site_name(row) for row in report["leaks"]]
    figures = [(row["Direct"], row["Indirect"], row["Blocks"]) for row in rows]
    assert figures == [("12800", "0", "100"), ("0", "6400", "100")]
    assert rows[0]["Stack"].startswith("[jit handle] < main /opt/demo.py:40") and rows[0]["Process"] == "demo 100"


# ---- names that mean something elsewhere

NASTY = [
    "<script>window.hacked=1</script>",
    "</script><img src=x onerror=window.hacked=1>",
    "\"quoted\" 'name' & &amp; `back`",
    '=HYPERLINK("http://x")',
    "std::map<std::string, " + "Layout[Int, " * 400 + "]" * 400,
    "a\tb\rc\x1b[31m\u202edrow",
]


def test_names_are_text_and_harmless(tmp_path, show):
    report = Report(argv=["<b>bold</b>", "</script>"], exe=b"/opt/\xff\xfe<i>")
    for i, name in enumerate(NASTY):
        site = report.site(report.stack(("python", name, b"/tmp/caf\xe9/<u>.py", i + 1)), calls=(2, 1, 1, 2000),
                           live=(1000 - i, 1), peak=(1000 - i, 1))  # fmt: skip
        report.leak(site, direct=(1000 - i, 1))
        report.holder(site, (5, report.string("<b>held</b>"), 0, 0))
    report.thread(1, "<s>thread</s>", 5)
    report.note("<script>window.hacked=1</script>")
    shown = show(page_write(folder_of(tmp_path, report.data()), tmp_path / "page.html"), "m=leaked&t=leaks")
    assert [row["Site"] for row in shown.table()] == NASTY
    assert "<script>window.hacked=1</script>" in shown.seen_rows()[0][0]
    for tab in ("live", "peak", "threads", "callers"):
        shown.tab.locator(f"#tabs [data-tab={tab}]").click()
    shown.open("m=leaked&t=leaks")
    for row in range(len(NASTY)):
        shown.tab.locator(f"#row-{row}").click()
        assert "<b>held</b>" in shown.text("#details") and "<u>.py" in shown.text("#details")
        shown.keys("s", "Escape", "w")
        shown.tab.locator("#tabs [data-tab=leaks]").click()
    shown.keys("a")
    assert "<b>bold</b>" in shown.text("dialog[open]") and "caf" not in shown.text("dialog[open]")
    shown.keys("Escape")
    shown.tab.locator("dialog").wait_for(state="detached")  # the browser tells of a close a moment later
    assert not shown.js("() => window.hacked")
    assert shown.js("() => document.querySelectorAll('img, b > b, u, s, dialog').length") == 0
    _, svg = saved(shown, "Flame graph as SVG", tmp_path)
    ElementTree.fromstring(svg)
    _, table = saved(shown, "Table Leaks as CSV", tmp_path)
    assert [row["Site"] for row in csv.DictReader(io.StringIO(table.decode(), newline=""))][3].startswith("'=HYPERLINK")


def test_the_page_holds_no_name_as_it_is(tmp_path):
    """Nothing of a report stands in the HTML itself: it is all packed."""
    report = Report(argv=["</script><b>x"])
    report.site(report.stack(("jit", "</script><b>y", 1)), peak=(10, 1))
    page = page_write(folder_of(tmp_path, report.data()), tmp_path / "page.html").read_text()
    assert "<b>x" not in page and "<b>y" not in page
