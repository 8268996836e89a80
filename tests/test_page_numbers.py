"""The page's figures are those of `heaptide report`, in every table and every view of the graph."""

import struct

import pytest

from heaptide_run import command, traced
from page_browser import json_of, page_write, site_name
from report_files import Report, demo_folder, folder_of, make_report
from report_files import file_bytes as report_bytes

FOLDED = ["leaked", "live", "peak", "allocated", "temporaries"]


@pytest.fixture
def demo(tmp_path, show):
    folder = demo_folder(tmp_path)
    return folder, show(page_write(folder, tmp_path / "demo.html"))


def folded_sum(folder, what):
    lines = command("report", folder, "--folded", what, "--fail-on", "none").stdout.decode().splitlines()
    return sum(int(line.rsplit(" ", 1)[1]) for line in lines)


def table_of(shown, tab):
    shown.tab.locator(f"#tabs [data-tab={tab}]").click()
    return shown.table()


# By table: the report's list, and what of its rows stands in which column.
LISTS = {
    "leaks": (lambda report: report["leaks"],
              {"Direct": "direct_bytes", "Indirect": "indirect_bytes", "Blocks": "blocks"}),
    "growth": (lambda report: report["growth"]["sites"], {"Per second": "bytes_per_s", "Live at end": "live_bytes"}),
    "peak": (lambda report: report["peak"], {"Bytes": "bytes", "Blocks": "blocks"}),
    "hotspots": (lambda report: report["hotspots"], {"Allocations": "allocations", "Bytes": "allocated_bytes"}),
    "temporaries": (lambda report: report["temporaries"], {"Temporaries": "temporaries"}),
    "python": (lambda report: report["python"],
               {"Live": "live_bytes", "Objects": "live_blocks", "At peak": "peak_bytes", "Allocations": "allocations"}),
}  # fmt: skip


def in_order(rows):
    """JavaScript writes 250.0 as 250."""
    return sorted(str([float(value) if isinstance(value, (int, float)) else value for value in row]) for row in rows)


def types_text(types):
    """What stands in the table: exact but for the bytes, which are under 1 KiB where this is used."""
    return ", ".join(f"{one['type']} {one['blocks']} ({one['bytes']} B)" for one in types or [])


def assert_tables_equal(shown, report):
    for tab, (rows_of, columns) in LISTS.items():
        wanted = [(site_name(row), *(row[key] for key in columns.values())) for row in rows_of(report)]
        found = [(row["Site"], *(row[label] for label in columns)) for row in table_of(shown, tab)]
        assert in_order(found) == in_order(wanted), tab
    types = [(row["Site"], row["Types"]) for row in table_of(shown, "python")]
    assert sorted(types) == sorted((site_name(row), types_text(row["types"])) for row in report["python"])
    sizes = [(row["Up to"], row["Allocations"], row["Bytes"]) for row in table_of(shown, "sizes")]
    assert sizes == [(size["up_to"], size["allocations"], size["bytes"]) for size in report["sizes"]]
    names = [
        (row["Name"], *(row[label] for label in ("Times", "Growth each", "Live, first", "Live, last")))
        for row in table_of(shown, "marks")
    ]
    keys = ("name", "count", "growth_bytes", "first_live_bytes", "last_live_bytes")
    assert in_order(names) == in_order([mark[key] for key in keys] for mark in report["mark_names"])
    threads = [(row["Thread"], row["Allocations"]) for row in table_of(shown, "threads")]
    assert in_order(threads) == in_order((one["tid"], one["allocations"]) for one in report["threads"])


def assert_tiles_equal(shown, summary):
    exact = shown.js("() => Object.fromEntries([...document.querySelectorAll('.tile')].map((t) => "
                     "[t.dataset.tile, t.dataset.exact]))")  # fmt: skip
    assert int(exact["leaked"]) == summary["leaked_direct_bytes"] + summary["leaked_indirect_bytes"]
    assert int(exact["peak"]) == summary["peak_bytes"] and int(exact["live"]) == summary["live_bytes"]
    assert int(exact["allocations"]) == summary["allocations"]
    assert int(exact["temporaries"]) == summary["temporaries"]


def test_tables_of_a_made_report(demo):
    folder, shown = demo
    (report,) = json_of(folder)
    assert_tables_equal(shown, report)
    assert_tiles_equal(shown, report["summary"])


@pytest.mark.parametrize("what", FOLDED)
def test_graph_of_a_made_report(demo, what):
    folder, shown = demo
    shown.open(f"m={what}")
    assert shown.root_value() == folded_sum(folder, what) > 0


def test_a_recorded_program(planted, tmp_path, out, show):
    traced([planted("two_leaks.c")], out=out)
    shown = show(page_write(out, tmp_path / "page.html"))
    (report,) = json_of(out)
    assert_tables_equal(shown, report)
    assert_tiles_equal(shown, report["summary"])
    shown.open("m=leaked")
    assert shown.root_value() == folded_sum(out, "leaked") > 0


def test_shown_cells_are_the_figures(demo):
    """What stands on the screen, not only what the page counts with."""
    _, shown = demo
    shown.open("t=leaks")
    rows = shown.seen_rows()
    assert rows[0][1:5] == ["12.5 KiB", "12.5 KiB", "0 B", "100"]
    assert rows[1][1:5] == ["6.25 KiB", "0 B", "6.25 KiB", "100"]
    assert shown.text("[data-tile=leaked] b") == "18.8 KiB"


def test_suppressed_leaks_are_struck_through_and_not_counted(tmp_path, show):
    folder = demo_folder(tmp_path)
    supp = tmp_path / "supp.txt"
    supp.write_text("leak:handle\n")
    shown = show(page_write(folder, tmp_path / "page.html", "--supp", supp), "t=leaks&m=leaked")
    assert shown.tab.locator(".row.suppressed").count() == 1
    assert shown.root_value() == 6400 + 200
    assert "6.25 KiB" in shown.text("[data-tile=leaked]")


def test_python_losses_stand_in_the_graph_and_not_in_leaks(demo):
    """As --folded leaked has them; a filter takes them out."""
    _, shown = demo
    shown.open("m=leaked")
    assert shown.root_value() == 12_800 + 6400 + 200
    shown.tab.locator("#kinds input[value=python]").uncheck()
    assert shown.root_value() == 12_800 + 6400


def test_holders_and_sites(demo):
    _, shown = demo
    shown.open("t=peak&m=peak")
    shown.tab.locator("#table-body .row", has_text="load").click()
    details = shown.text("#details")
    assert "held by Box.data[0] « __main__.keep['a']" in details and "load.py:7" in details and "600 B" in details
    assert "of type dict 2 (300 B), Box 2 (100 B)" in details


def test_processes_are_summed_and_apart(tmp_path, show):
    first = make_report.demo()
    second = Report(pid=7, exe="/opt/helper", flags=16, live=4000, rank=3)
    second.site(second.stack(("jit", "help", 1)), calls=(1, 0, 0, 4000), live=(4000, 1), peak=(4000, 1))
    shown = show(page_write(folder_of(tmp_path, first.data(), second.data()), tmp_path / "page.html"), "m=live")
    names = {box["name"]: box["value"] for box in shown.boxes()["children"]}
    assert names == {"demo 100": 12_800 + 6400 + 128 + 600, "helper 7": 4000}
    shown.tab.locator("#process").select_option(label="helper 7")
    assert shown.root_value() == 4000 and shown.state()["process"] == 1
    shown.tab.locator("#process").select_option(label="all")
    shown.tab.locator("#rank").select_option(label="3")
    assert shown.root_value() == 4000


# ---- the shape of the graph


def recursive_folder(tmp_path):
    """main -> walk -> walk -> walk -> (libc) malloc_like; main -> other."""
    report = Report()
    libc = report.module("/usr/lib/libc.so.6", 16)
    main = ("python", "main", "/x.py", 1)
    walks = [("python", "walk", "/x.py", line) for line in (5, 5, 4)]
    report.site(report.stack((libc, 0x10), *walks, main), live=(700, 7))
    report.site(report.stack(walks[0], main), live=(200, 2))
    report.site(report.stack(("python", "other", "/y.py", 9), main), live=(100, 1))
    return folder_of(tmp_path, report.data())


def shape(box):
    """("name", value, [children])"""
    return (box["name"], box["value"], [shape(child) for child in box["children"]])


SHAPES = {
    "fold=1": [("main", 1000, [("walk", 900, []), ("other", 100, [])])],
    "fold=0": [("main", 1000, [("walk", 900, [("walk", 700, [("walk", 700, [])])]), ("other", 100, [])])],
    "rt=1": [("main", 1000, [("walk", 900, [("[libc.so.6+0x10]", 700, [])]), ("other", 100, [])])],
    "inv=1": [("walk", 900, [("main", 900, [])]), ("other", 100, [("main", 100, [])])],
    "ln=1&fold=0": [
        ("main", 1000, [("walk", 700, [("walk", 700, [("walk", 700, [])])]), ("walk", 200, []), ("other", 100, [])]),
    ],
    'h=["walk"]': [("main", 1000, [("other", 100, [])])],
}  # fmt: skip


@pytest.mark.parametrize("fragment", SHAPES)
def test_shapes(tmp_path, show, fragment):
    shown = show(page_write(recursive_folder(tmp_path), tmp_path / "page.html"), f"m=live&{fragment}")
    root = shown.boxes()
    assert [shape(child) for child in root["children"]] == SHAPES[fragment] and root["value"] == 1000


def test_a_stack_of_a_runtime_alone_is_shown(tmp_path, show):
    """Else its bytes would have no box."""
    report = Report()
    libc = report.module("/usr/lib/libc.so.6", 16)
    report.site(report.stack((libc, 0x10), (libc, 0x20)), live=(50, 1))
    shown = show(page_write(folder_of(tmp_path, report.data()), tmp_path / "page.html"), "m=live")
    assert [box["name"] for box in shown.boxes()["children"]] == ["[libc.so.6+0x20]"]


def test_callers_and_callees(tmp_path, show):
    shown = show(page_write(recursive_folder(tmp_path), tmp_path / "page.html"), "m=live&fold=0")
    shown.click_box("walk", button="right")
    shown.tab.get_by_role("menuitem", name="Show callers and callees").click()
    rows = {(row["Is"], row["Function"]): row["Weight"] for row in shown.table()}
    assert rows == {("caller", "main"): 900, ("callee", "[libc.so.6+0x10]"): 700, ("callee", "[itself]"): 200}


def test_search_weighs_each_stack_once(tmp_path, show):
    shown = show(page_write(recursive_folder(tmp_path), tmp_path / "page.html"), "m=live&fold=0")
    shown.tab.locator("#search").fill("WA.K")
    assert shown.tab.locator("#search-result").get_attribute("data-value") == "900"
    assert "900 B · 90.0 %" in shown.text("#search-result")
    shown.tab.locator("#search").fill("(")
    assert shown.text("#search-result") == "not a regular expression"


def test_what_python_lost_is_told_beside_the_leaks(tmp_path, show):
    """It is no finding and in no summary: the tile says both."""
    report = Report()
    lost = report.site(report.stack(("python", "f", "/x.py", 3)), kind="python", live=(200_000, 7))
    report.leak(lost, direct=(131_072, 2))
    shown = show(page_write(folder_of(tmp_path, report.data()), tmp_path / "page.html"))
    assert shown.text("[data-tile=leaked]").split("\n") == ["Leaked", "0 B", "128 KiB lost in Python"]
    assert shown.state()["tab"] == "python" and shown.root_value() == 131_072


# ---- GPUs (the sections of native/file_format.h)

MIB = 1 << 20


def gpu_report():
    """One device, two streams, a tensor, and both over time."""
    report = Report(kinds={"device": (3 * MIB, 2, 4 * MIB, 3, 1, 0, 6 * MIB)}, live=3 * MIB, peak=4 * MIB)
    site = report.site(report.stack(("python", "forward", "/net.py", 7)), kind="device", calls=(3, 1, 0, 6 * MIB),
                       live=(3 * MIB, 2), peak=(4 * MIB, 3))  # fmt: skip
    for i in range(20):
        report.sample(i * 100_000_000, device=i % 5 * MIB)
    name, dtype, shape = report.string("MI300X"), report.string("float32"), report.string("512,1024")
    held, unknown = report.string("model.weight"), 2**64 - 1
    sections = report.sections()
    sections[20] = struct.pack("<II5Q", 3, 0, 0, 0, 0, 0, 0)
    sections[21] = struct.pack("<4I8Q3Q", 0, name, 0, 0, 3 * MIB, 4 * MIB, 3, 0, 0, 0, 0, 0, *[unknown] * 3)
    streams = [(0, 0, 0, MIB, 2 * MIB, 1), (0, 1, 16, 2 * MIB, 2 * MIB, 2)]
    sections[22] = b"".join(struct.pack("<IIQ3Q", *stream) for stream in streams)
    curves = [(1, 0, [0, 3, 4, 3]), (2, 0, [0, 1, 2, 1]), (2, 1, [0, 2, 2, 2])]
    sections[23] = struct.pack("<II4Q", 4, len(curves), *(i * 500_000_000 for i in range(4)))
    for kind, index, values in curves:
        sections[23] += struct.pack("<II4Q", kind, index, *(value * MIB for value in values))
    sections[26] = struct.pack("<6IQ", 0, dtype, shape, site, held, 1, 2 * MIB)
    return report_bytes(sections)


def test_device_sites_have_lines_of_their_own(tmp_path, show):
    report = Report()
    for name, kind, values in (("tensors", "device", [0, 5 * MIB, 2 * MIB]), ("lists", "heap", [MIB, MIB, MIB])):
        site = report.site(report.stack(("python", name, "/x.py", 1)), kind=kind, live=(values[-1], 1))
        report.curve(site, values)
    points = [i * 500_000_000 for i in range(3)]
    shown = show(page_write(folder_of(tmp_path, report.data(points)), tmp_path / "page.html"), "m=live")
    shown.keys("g", "g")
    assert (shown.text("#series"), shown.text("#series-legend")) == ("By GPU site", "tensors")
    values = """() => { const { timeline, data, view } = heaptidePage;
      return timeline.seriesOf(data(), view.get()).areas.map((one) => [...one.values]); }"""
    assert shown.js(values) == [[0, 5 * MIB, 2 * MIB]]


def test_gpu_table_and_curves(tmp_path, show):
    folder = folder_of(tmp_path, gpu_report())
    (report,) = json_of(folder)
    assert report["gpu"]["tensors"] and len(report["gpu"]["streams"]) == 2
    shown = show(page_write(folder, tmp_path / "page.html"), "t=gpu&m=live")
    rows = {(row["What"], row["Name"]): row for row in shown.table()}
    for device in report["gpu"]["devices"]:
        row = rows["device", device["name"]]
        assert (row["Live"], row["Peak"]) == (device["live_bytes"], device["peak_bytes"])
    for stream in report["gpu"]["streams"]:
        row = rows["stream", stream["name"]]
        assert (row["Live"], row["Peak"], row["Allocations"]) == tuple(
            stream[key] for key in ("live_bytes", "peak_bytes", "allocations")
        )
    tensor = rows["tensor", "float32 [512, 1024]"]
    assert (tensor["Live"], tensor["Held by"], tensor["Allocated at"]) == (2 * MIB, "model.weight", "forward  net.py:7")
    labels = []
    for _ in range(4):
        labels.append((shown.text("#series"), shown.text("#series-legend").split("\n")[0]))
        shown.keys("g")
    assert labels[2:] == [("By GPU", "GPU 0"), ("By stream", "GPU 0, default")] and labels[0][0] == "By kind"
    shown.keys("g", "g", "g")
    shown.js("() => heaptidePage.view.change({ range: [0, 1.2] })")
    assert "GPU 0, default 2.00 MiB, GPU 0, stream 1 2.00 MiB" in shown.text("#range-text")
