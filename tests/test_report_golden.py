"""What `heaptide report` prints for a made-up process, word by word. HEAPTIDE_GOLDEN=write writes tests/golden anew."""

import json
import os
from pathlib import Path

import pytest

from heaptide_run import command
from report_files import Report, demo_folder, folder_of
from report_schema import schema_problems

GOLDEN = Path(__file__).parent / "golden"
OUTPUTS = {
    "demo.txt": [],
    "demo_top1.txt": ["--top", "1"],
    "demo.json": ["--json"],
    "demo_leaked.folded": ["--folded", "leaked"],
    "demo_live.folded": ["--folded", "live"],
    "demo_temporaries.folded": ["--folded", "temporaries"],
    "demo_suppressions.txt": ["--print-suppressions"],
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_output(name, tmp_path):
    done = command("report", demo_folder(tmp_path), *OUTPUTS[name], env={"TZ": "UTC"})
    assert done.status == 1 and done.stderr == "", done.describe()
    if os.environ.get("HEAPTIDE_GOLDEN") == "write":
        (GOLDEN / name).write_bytes(done.stdout)
    assert done.stdout.decode() == (GOLDEN / name).read_text()


def reports_of(folder, *options):
    done = command("report", folder, "--json", *options)
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    for report in reports:
        assert schema_problems(report) == []
    return reports


def report_of(tmp_path, report, *options, points=()):
    (one,) = reports_of(folder_of(tmp_path, report.data(points)), *options)
    return one


def test_equal_looking_sites_are_one_row(tmp_path):
    """Two calls on one line of one function; a third on another line stays apart."""
    report = Report()
    for line in (3, 3, 4):
        report.site(report.stack(("python", "f", "/x.py", line), ("jit", f"caller{len(report.sites) // 9}", 1)),
                    calls=(1, 0, 0, 10), peak=(10, 1))  # fmt: skip
    rows = report_of(tmp_path, report)["peak"]
    assert [(row["site"]["line"], row["bytes"], row["blocks"]) for row in rows] == [(3, 20, 2), (4, 10, 1)]


def test_kinds_stay_apart(tmp_path):
    report = Report()
    stack = report.stack(("jit", "f", 1))
    for kind in ("heap", "mmap"):
        report.site(stack, kind=kind, peak=(10, 1))
    assert [row["kind"] for row in report_of(tmp_path, report)["peak"]] == ["heap", "mmap"]


def test_threads_of_one_stack_are_one_row_with_shares(tmp_path):
    """In the order in which the threads came; a site of no thread that is known has no name."""
    report = Report()
    stack = report.stack(("jit", "f", 1))
    second, first = report.owner(8, "second"), report.owner(7, "first")
    for owner, amount in ((first, 10), (0, 3), (second, 5), (first, 20)):
        report.leak(report.site(stack, calls=(1, 0, 0, amount), peak=(amount, 1), owner=owner), direct=(amount, 1))
    report.site(report.stack(("jit", "g", 2)), calls=(4, 4, 0, 4), owner=second)
    shown = report_of(tmp_path, report, "--fail-on", "none")
    (row,) = shown["peak"]
    assert (row["bytes"], row["blocks"]) == (38, 4)
    assert [(one["tid"], one["name"], one["bytes"], one["blocks"]) for one in row["threads"]] == [
        (None, None, 3, 1),
        (8, "second", 5, 1),
        (7, "first", 30, 2),
    ]
    (leak,) = shown["leaks"]
    assert [one["direct_bytes"] for one in leak["threads"]] == [3, 5, 30]
    assert [len(one["threads"]) for one in shown["hotspots"]] == [3, 1]


def test_a_chain_over_depth_is_cut(tmp_path):
    report = Report(depth=3)
    report.site(report.stack(*[("jit", f"f{i}", i + 1) for i in range(6)]), peak=(10, 1))
    report.site(report.stack(*[("jit", f"f{i}", i + 1) for i in range(3)], ("jit", "other", 9)), peak=(5, 1))
    (row,) = report_of(tmp_path, report)["peak"]
    functions = [frame["function"] for frame in row["stack"]]
    assert functions == ["[jit f0]", "[jit f1]", "[jit f2]", "[truncated]"] and row["bytes"] == 15


def test_a_chain_of_depth_is_whole(tmp_path):
    report = Report(depth=3)
    report.site(report.stack(*[("jit", f"f{i}", i + 1) for i in range(3)]), peak=(10, 1))
    (row,) = report_of(tmp_path, report)["peak"]
    assert [frame["function"] for frame in row["stack"]] == ["[jit f0]", "[jit f1]", "[jit f2]"]


def test_heaptides_own_frames_are_not_shown(tmp_path):
    report = Report()
    own = report.module("/usr/lib/libheaptide.so", 4)
    report.site(report.stack((own, 1), ("jit", "f", 1), (own, 2)), peak=(10, 1))
    (row,) = report_of(tmp_path, report)["peak"]
    assert [frame["function"] for frame in row["stack"]] == ["[jit f]"]


def test_where_all_frames_are_libcs_the_outermost_is_the_site(tmp_path):
    report = Report()
    libc = report.module("/usr/lib/libc.so.6", 16)
    report.site(report.stack((libc, 0x10), (libc, 0x20), (libc, 0x30)), peak=(10, 1))
    (row,) = report_of(tmp_path, report)["peak"]
    assert row["site"]["offset"] == 0x30


def test_a_libcs_frame_is_never_the_site_beside_another(tmp_path):
    report = Report()
    libc, program = report.module("/usr/lib/libc.so.6", 16), report.module("/opt/x")
    report.site(report.stack((libc, 0x10), (program, 0x20), (libc, 0x30)), peak=(10, 1))
    (row,) = report_of(tmp_path, report)["peak"]
    assert (row["site"]["module"], row["site"]["offset"]) == ("/opt/x", 0x20)


def test_last_report_of_a_process_counts(tmp_path):
    first, last, other = Report(duration=1_000_000_000), Report(duration=3_000_000_000), Report(image=1)
    found = reports_of(folder_of(tmp_path, last.data(), first.data(), other.data()))
    assert sorted(report["seconds"] for report in found) == [2, 3]


def test_text_that_is_no_utf8_is_valid_json(tmp_path):
    report = Report(argv=[b"caf\xe9", b"\xed\xa0\x80", 'quote " \\ \n', "ünï"], exe=b"/opt/\xff")
    shown = report_of(tmp_path, report)
    assert shown["argv"] == ["caf�", "���", 'quote " \\ \n', "ünï"] and shown["exe"] == "/opt/�"


def test_text_cannot_steer_the_terminal(tmp_path):
    report = Report(argv=["demo", "\x1b[31mred", "\r\nline"])
    report.site(report.stack(("jit", "\x1b]0;title\x07", 1)), peak=(10, 1))
    shown = command("report", folder_of(tmp_path, report.data())).stdout
    assert b"\x1b" not in shown and b"\r" not in shown and b"\x07" not in shown


def test_counts_are_exact_to_2_to_the_63(tmp_path):
    big = 2**63 - 1
    shown = report_of(tmp_path, Report(peak=big, live=big - 2))
    assert shown["summary"]["peak_bytes"] == big and shown["summary"]["live_bytes"] == big - 2


def test_known_library_residue_is_suppressed_unless_asked_for(tmp_path):
    report = Report()
    report.leak(report.site(report.stack(("jit", "f", 1)), flags=2, live=(10, 1)), direct=(10, 1))
    folder = folder_of(tmp_path, report.data())
    assert reports_of(folder)[0]["leaks"][0]["suppressed"] and command("report", folder).status == 0
    (shown,) = reports_of(folder, "--no-builtin-suppressions")
    assert not shown["leaks"][0]["suppressed"] and shown["summary"]["leaked_direct_bytes"] == 10


@pytest.mark.parametrize(
    ("flags", "peak", "leaked", "quiet"),
    [(16, 1000, 10, True), (17, 1000, 10, False), (16, 1 << 20, 10, False), (16, 1000, 64 << 10, False),
     (16, (1 << 20) - 1, (64 << 10) - 1, True)],
)  # fmt: skip
def test_quiet(flags, peak, leaked, quiet, tmp_path):
    report = Report(flags=flags, peak=peak)
    report.leak(report.site(report.stack(("jit", "f", 1)), live=(leaked, 1)), direct=(leaked, 1))
    folder = folder_of(tmp_path, report.data())
    assert reports_of(folder)[0]["quiet"] == quiet
    text = command("report", folder).stdout.decode()
    assert text.startswith("QUIET") == quiet and (text.count("\n") == 1) == quiet


def test_a_growing_helper_is_not_quiet(tmp_path):
    report = Report(flags=16)
    for i in range(20):
        report.sample(i * 100_000_000, heap=i << 15)
    shown = report_of(tmp_path, report)
    assert shown["growth"]["cpu"]["verdict"] == "fail" and not shown["quiet"]


def test_partly_leaked_python_site_is_two_rows(tmp_path):
    report = Report()
    site = report.site(report.stack(("python", "f", "/x.py", 3)), kind="python", calls=(9, 2, 0, 900),
                       live=(700, 7), peak=(800, 8))  # fmt: skip
    report.leak(site, direct=(200, 2), indirect=(100, 1))
    shown = report_of(tmp_path, report)
    leaked, kept = shown["python"]
    assert (leaked["leaked"], leaked["live_bytes"], leaked["live_blocks"], leaked["allocations"]) == (True, 300, 3, 3)
    assert (kept["leaked"], kept["live_bytes"], kept["live_blocks"], kept["allocations"]) == (False, 400, 4, 6)
    assert leaked["peak_bytes"] is None and kept["peak_bytes"] == 800 and shown["leaks"] == []


def test_a_native_block_of_a_python_line_names_line_and_call(tmp_path):
    """A library's functions without lines give way to the line that called them; the text shows both."""
    report = Report()
    module = report.module("/opt/ext.so")
    report.site(report.stack((module, 0x10), (module, 0x20), ("python", "load", "/opt/load.py", 7)), peak=(5000, 1))
    text = command("report", folder_of(tmp_path, report.data()), "--fail-on", "none").stdout.decode()
    peak = [line.strip() for line in text[text.index("PEAK") : text.index("HOTSPOTS")].splitlines() if line][1:]
    assert peak == ["4.88 KiB  in 1 block of heap", "[ext.so+0x20]", "load  load.py:7"]
