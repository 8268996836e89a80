"""Filters of the page and the views that know whole processes only: they follow process and rank, and say of the other
filters that these do not reach them."""

import pytest

from page_browser import page_write
from report_files import Report, folder_of
from test_page_use import two_processes_with_threads

WHOLE = "known of whole processes only"


def sized(pid, rank, sizes):
    """A process with heap and mmap whose blocks have these sizes."""
    heap, mapped = 10 * pid, 20 * pid
    kinds = {"heap": (heap, 1, heap, 1, 0, 0, heap), "mmap": (mapped, 1, mapped, 1, 0, 0, mapped)}
    report = Report(pid=pid, rank=rank, started=10**18 + pid, peak=3 * heap, live=3 * heap, kinds=kinds)
    for kind, amount in (("heap", heap), ("mmap", mapped)):
        report.site(report.stack(("jit", f"take_{kind}", 1), ("jit", "run", 2)), kind=kind, calls=(1, 0, 0, amount),
                    live=(amount, 1), peak=(amount, 1))  # fmt: skip
    for up_to, allocations in sizes.items():
        report.size(up_to, allocations, up_to * allocations)
    report.thread(pid, "only", 2)
    report.mark("round", 5, 7)
    return report.data()


SIZES = [{8: 3, 64: 5}, {64: 7, 4096: 1}, {16: 9}]
RANKS = [0, 1, 1]


@pytest.fixture
def three(tmp_path, show):
    datas = [sized(10 + i, rank, sizes) for i, (rank, sizes) in enumerate(zip(RANKS, SIZES))]
    return show(page_write(folder_of(tmp_path, *datas), tmp_path / "page.html"), "t=sizes&m=live")


def sizes_of(shown):
    return {row["Up to"]: row["Allocations"] for row in shown.table()}


def added(*sizes):
    return {up_to: sum(one.get(up_to, 0) for one in sizes) for up_to in {key for one in sizes for key in one}}


def drawn(shown):
    return shown.js("() => document.getElementById('sizes').toDataURL()")


def test_sizes_follow_process_and_rank(three):
    """The table and the histogram, by mouse and by key."""
    assert sizes_of(three) == added(*SIZES) and WHOLE not in three.text("#table-note")
    pictures = {drawn(three)}
    for process, sizes in enumerate(SIZES):
        three.keys("p")
        assert three.state()["process"] == process and sizes_of(three) == sizes
        pictures.add(drawn(three))
    three.tab.locator("#process").select_option(index=1)
    assert sizes_of(three) == SIZES[0]
    three.tab.locator("#rank").select_option(label="1")
    assert three.state()["process"] is None and sizes_of(three) == added(SIZES[1], SIZES[2])
    pictures.add(drawn(three))
    assert len(pictures) == 5, "one picture for all, each process and a rank"
    assert WHOLE not in three.text("#table-note") and three.tab.locator("#tiles-note").is_hidden()


def test_what_cannot_follow_a_filter_says_so(three):
    """Beside the tables of whole processes, and under the tiles; not where the figures are filtered."""
    width = lambda: three.tab.locator("[data-tile=peak]").bounding_box()["width"]  # noqa: E731
    before = width()
    three.tab.locator("#kinds input[value=mmap]").uncheck()
    assert width() == before, "the note takes no room from the tiles"
    assert sizes_of(three) == added(*SIZES)
    for tab in ("sizes", "gpu", "threads", "marks"):
        three.tab.locator(f"#tabs [data-tab={tab}]").click()
        assert f"not filtered by kind: {WHOLE}" in three.text("#table-note"), tab
    for tab in ("leaks", "live", "peak", "hotspots", "temporaries", "python", "callers"):
        three.tab.locator(f"#tabs [data-tab={tab}]").click()
        assert WHOLE not in three.text("#table-note"), tab
    assert three.text("#tiles-note") == "Of whole processes: not filtered by kind."
    three.tab.locator("#tabs [data-tab=sizes]").click()
    three.tab.locator("#entry").select_option(label="[jit run]")
    three.js("() => heaptidePage.view.change({ only: 'take_heap', range: [0, 1] })")
    assert three.text("#table-note").endswith(
        f"whole run: not recorded over time · not filtered by thread, function and kind: {WHOLE}"
    )
    assert three.text("#tiles-note").endswith("not filtered by thread, function and kind.")


def test_threads_of_their_own_are_named_as_such(tmp_path, show):
    page = page_write(folder_of(tmp_path, *two_processes_with_threads()), tmp_path / "page.html")
    shown = show(page, "t=threads&m=live")
    shown.keys("y")
    assert f"not filtered by thread: {WHOLE}" in shown.text("#table-note")
    shown.keys("Y")
    shown.tab.locator("#entry").select_option(index=1)  # here the function that a thread runs
    assert f"not filtered by function: {WHOLE}" in shown.text("#table-note")


def test_threads_with_long_names_keep_their_numbers(tmp_path, show):
    """The filter cuts names, not what tells apart threads whose names begin alike."""
    report = Report(live=60, peak=60, kinds={"heap": (60, 3, 60, 3, 0, 0, 60)})
    name = "a worker with a name that goes on and on, as names of pools do " * 3
    for i, (tid, end) in enumerate(((11, "one"), (12, "two"), (13, "two"))):
        report.site(report.stack(("jit", "take", 1)), calls=(1, 0, 0, 20), live=(10 * i + 10, 1), peak=(20, 1),
                    owner=report.owner(tid, name + end))  # fmt: skip
    shown = show(page_write(folder_of(tmp_path, report.data()), tmp_path / "page.html"), "m=live")
    options = shown.tab.locator("#thread option")
    labels = options.all_inner_texts()
    assert [label.rsplit("…", 1)[1] for label in labels[1:]] == [", 2 threads", " 11", " 12", " 13"]
    assert all(len(label) < 60 for label in labels)
    assert options.nth(2).get_attribute("title") == name + "one 11"
    shown.tab.locator("#thread").select_option(label=labels[3])
    assert shown.root_value() == 20
