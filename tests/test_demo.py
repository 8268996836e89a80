"""The demo program: the figures that the README shows."""

import pytest

import expectations
import heaptide_run
import program_build
from report_schema import schema_problems, total_problems

SOURCE = program_build.REPOSITORY / "examples" / "demo.c"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """One traced run of the demo, for all of this file."""
    out = tmp_path_factory.mktemp("demo") / "report"
    return heaptide_run.beside([program_build.build(SOURCE)], out=out)


@pytest.fixture(scope="module")
def report(demo):
    return demo.report(*heaptide_run.EVERY_ROW)


def line_of(tag):
    return expectations.tagged_lines(SOURCE.read_text())[tag]


def test_output_is_untouched(demo):
    assert demo.status == 0 and demo.stdout == b"" and demo.program_stderr == []


def test_report_is_by_the_schema(report):
    assert schema_problems(report) + total_problems(report) == []


def test_leaks_are_the_lost_pairs_and_nothing_else(report):
    wanted = {
        ("demo.c", line_of("@node"), "heap"): expectations.Leaks(12800, 0, 100),
        ("demo.c", line_of("@child"), "heap"): expectations.Leaks(0, 6400, 100),
    }
    assert dict(expectations.leaks_by_line(report)) == wanted


def test_leaked_stacks(report):
    stacks = {row["site"]["function"]: row["stack"] for row in report["leaks"]}
    for function in ("node_make", "child_make"):
        own = [frame["function"] for frame in stacks[function]]
        start = own.index(function)
        assert own[start : start + 3] == [function, "request_serve", "main"]


def test_summary_is_exact(report):
    summary = report["summary"]
    wanted = {
        "allocations": 2001,
        "frees": 1800,
        "temporaries": 900,
        "live_bytes": 19328,
        "peak_bytes": 19328,
        "leaked_direct_bytes": 12800,
        "leaked_indirect_bytes": 6400,
        "leaked_blocks": 200,
    }
    assert {key: summary[key] for key in wanted} == wanted
    heap = {"live_bytes": 19328, "peak_bytes": 19328, "allocations": 2001, "allocated_bytes": 1001 * 128 + 64000}
    assert summary["by_kind"]["heap"] == heap


def test_peak_is_held_exactly(report):
    """At the peak 100 pairs and the cached node were live, whichever request reached it."""
    at_node = expectations.rows_at(report, "peak", SOURCE, line_of("@node"))
    at_child = expectations.rows_at(report, "peak", SOURCE, line_of("@child"))
    assert sorted((row["bytes"], row["blocks"]) for row in at_node) == [(128, 1), (12800, 100)]
    assert [(row["bytes"], row["blocks"]) for row in at_child] == [(6400, 100)]
    assert report["seconds"] * 0.9 < report["summary"]["peak_seconds"] <= report["seconds"]


def test_cached_node_has_a_holder(report):
    cached = [row for row in expectations.rows_at(report, "peak", SOURCE, line_of("@node")) if row["blocks"] == 1]
    assert any("global cache" in holder for holder in cached[0]["held_by"]), cached


def test_temporaries_are_the_children(report):
    rows = expectations.rows_at(report, "temporaries", SOURCE, line_of("@child"))
    assert [row["temporaries"] for row in rows] == [900]


def test_growth_passes(report):
    """19 KiB in two seconds is under the limit of 64 KiB."""
    assert report["growth"]["cpu"]["verdict"] == "pass", report["growth"]["cpu"]
    assert report["seconds"] > 2


def test_process_is_described(demo, report):
    assert report["exe"] == demo.argv[-1] and report["argv"] == [demo.argv[-1]]
    assert report["main"] and not report["quiet"] and report["reason"] == "exit" and report["signal"] is None


def test_exit_statuses(demo):
    assert heaptide_run.command("report", demo.out).status == 1
    assert heaptide_run.command("report", demo.out, "--fail-on", "leaks").status == 1
    assert heaptide_run.command("report", demo.out, "--fail-on", "growth").status == 0
    assert heaptide_run.command("report", demo.out, "--fail-on", "none").status == 0


def test_text_names_the_leaks(demo):
    text = heaptide_run.command("report", demo.out).stdout.decode()
    for heading in ("LEAKS", "GROWTH", "PEAK", "HOTSPOTS", "TEMPORARIES", "SIZES", "SUMMARY"):
        assert heading in text, text
    leaks = text[text.index("LEAKS") : text.index("GROWTH")]
    for words in ("12.5 KiB", "6.25 KiB", f"demo.c:{line_of('@node')}", f"demo.c:{line_of('@child')}"):
        assert words in leaks, leaks
    assert "cache_fill" not in leaks
    assert "\x1b" not in text
