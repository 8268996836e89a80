"""Cases C: counting."""

import json
from pathlib import Path

import pytest

import heaptide_run
from conftest import CASES
from expectations import rows_at
from heaptide_run import EVERY_ROW, beside, execute, traced
from test_cases_start import leaked, sound_report

MIB = 1 << 20


def test_31_realloc_corner_cases(case, out):
    run = beside([case("realloc_edge.c")], out=out)
    assert leaked(sound_report(run)) == {("realloc_edge.c", 7): (100, 1), ("realloc_edge.c", 12): (300, 1)}


def limited(kibibytes, program, out):
    run = beside(["/bin/sh", "-c", f"ulimit -v {kibibytes}; exec {program}"], out=out)
    assert run.status == 0
    return run.report()


def test_32_failed_calls_under_a_small_address_space(case, out):
    report = limited(200000, case("realloc_edge.c"), out)
    assert sum(amount for amount, _ in leaked(report).values()) == 400


def test_32_no_room_for_the_leak_scan(case, out):
    """The tables of the scan do not fit any more: the figures stay exact, and a note says what is missing."""
    report = limited(100000, case("realloc_edge.c"), out)
    assert report["summary"]["live_bytes"] == 400 and report["leaks"] == []
    assert any("memory" in note for note in report["notes"]), report["notes"]


@pytest.mark.parametrize("name", ["34_mapping_arithmetic", "56_lost_mapping_is_its_own_kind"])
def test_mappings(name, case, out):
    """One mapping of 1 MiB is lost at line 23; everything else is gone, and nothing of it is heap."""
    report = sound_report(beside([case("maps.c")], out=out))
    assert leaked(report, "mmap") == {("maps.c", 23): (MIB, 1)}
    assert leaked(report, "heap") == {}
    assert report["summary"]["by_kind"]["mmap"]["live_bytes"] == MIB == report["summary"]["live_bytes"]


def test_35_all_of_the_usable_size(case, out):
    report = sound_report(beside([case("usable.c", flags=("-O1",))], out=out))
    assert report["summary"]["live_bytes"] == 0 and leaked(report) == {}


@pytest.mark.parametrize("link", [(), ("-static-libstdc++", "-static-libgcc")], ids=["shared", "static"])
def test_37_exceptions_and_longjmp_through_new(link, case, out):
    report = sound_report(beside([case("throwing.cc", flags=("-O1", *link))], out=out))
    assert leaked(report) == {}
    vectors = rows_at(report, "hotspots", CASES / "throwing.cc", 23)
    assert sum(row["allocations"] for row in vectors) == 1000
    assert sum(row["allocated_bytes"] for row in vectors) == 4000 * 1000


def test_37_handlers_that_jump_out_of_a_hook(case, out):
    """Only what was interrupted may be lost. Bare nothing is interrupted."""
    run = traced([case("jump_out.c")], out=out)
    assert run.status == 0, run.describe()
    calls, jumps = map(int, run.program_stderr[0].split())
    report = run.report()
    assert jumps > 50, "the common path of malloc in the library is no longer than that?"
    assert calls <= report["summary"]["allocations"] <= calls + jumps
    assert report["summary"]["frees"] == calls
    assert not any("without a record" in note for note in report["notes"]), report["notes"]


def test_38_huge_pages_count_as_resident(planted, tmp_path, out):
    pages = int(Path("/proc/sys/vm/nr_hugepages").read_text())
    if pages * 2 < 64:
        pytest.skip(f"needs 64 MiB of reserved huge pages, {pages} pages are reserved here")
    source = tmp_path / "huge.c"
    source.write_text(
        "#include <string.h>\n#include <sys/mman.h>\nint main(void) { size_t n = 64 << 20;\n"
        "  char *p = mmap(0, n, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0); memset(p, 1, n); return 0; }\n"
    )
    report = beside([planted(source)], out=out).report()
    assert report["summary"]["peak_rss_bytes"] > 64 * MIB


def test_39_without_proc(planted, out):
    program = planted("two_leaks.c")
    script = f"mount -t tmpfs none /proc && exec {program}"
    probe = execute(["unshare", "-m", "/bin/sh", "-c", script])
    if probe.status != 0:
        pytest.skip(f"cannot cover /proc here: {probe.stderr.strip()}")
    run = beside(["unshare", "-m", "/bin/sh", "-c", script], out=out)
    report = [report for report in run.reports() if Path(report["exe"]).name == "two_leaks"]
    assert len(report) == 1 and report[0]["summary"]["leaked_direct_bytes"] == 1100


def test_40_units(case, out):
    report = sound_report(beside([case("units.c")], out=out, options=["-q"]))
    amounts = {row["site"]["function"]: row["direct_bytes"] for row in report["leaks"]}
    assert amounts == {"lose_million": 1000000, "lose_mebibyte": 1048576, "lose_odd": 1023}
    text = heaptide_run.command("report", out).stdout.decode()
    leaks = text[text.index("LEAKS") : text.index("GROWTH")]
    for words in ("977 KiB", "1.00 MiB"):
        assert words in leaks, leaks
    for wrong in (" KB", " MB", " kB", "Kb"):
        assert wrong not in text


def test_41_a_report_read_twice_is_the_same(case, out):
    beside([case("all_api.c")], out=out)
    first, second = (heaptide_run.command("report", out, "--json", *EVERY_ROW).stdout for _ in range(2))
    assert first == second and json.loads(first)["summary"]["leaked_blocks"] == 13


@pytest.mark.heavy
def test_43_many_deep_and_small_stacks(case, out):
    report = sound_report(beside([case("stacks.c", flags=("-pthread",))], out=out))
    assert leaked(report) == {}
    rows = [row for row in report["peak"] if row["site"]["line"] in (6, 7)]
    assert len(rows) == 1 << 17 and sum(row["bytes"] for row in rows) == (1 << 16) * (24 + 40)
    deep = rows_at(report, "temporaries", CASES / "stacks.c", 8)
    assert [row["temporaries"] for row in deep] == [1]
    assert deep[0]["stack"][-1]["function"] == "[truncated]"
    tiny = rows_at(report, "hotspots", CASES / "stacks.c", 9)
    assert sum(row["allocations"] for row in tiny) == 3_000_000
    assert report["summary"]["peak_rss_bytes"] < 100 * MIB


def test_44_ended_threads_keep_their_names(case, out):
    report = sound_report(beside([case("thread_names.c", flags=("-pthread", "-D_GNU_SOURCE"))], out=out))
    rows = {thread["name"]: thread["allocations"] for thread in report["threads"]}
    assert len(rows) == len(report["threads"])
    assert {name: calls for name, calls in rows.items() if name != "main"} == {
        f"worker {number}": 100 * number for number in range(1, 6)
    }
    assert sum(rows.values()) == report["summary"]["allocations"]


@pytest.mark.heavy
def test_44_thousands_of_threads(case, out):
    run = beside([case("many_threads.c", flags=("-O1", "-pthread"))], out=out, timeout=120)
    report = sound_report(run)
    if run.status == 77:
        pytest.skip("this machine does not allow 2000 threads at once")
    brief = rows_at(report, "hotspots", CASES / "many_threads.c", 7)
    assert sum(row["allocations"] for row in brief) == 60000
    assert len(report["threads"]) == 1025 and report["threads"][-1]["tid"] is None, "the many are summed"
    assert report["threads"][-1]["name"] == f"{62001 - 1024} other threads"
    assert sum(thread["allocations"] for thread in report["threads"]) == report["summary"]["allocations"]
    assert leaked(report) == {}


@pytest.mark.parametrize(
    "way", ["one_block", "small_blocks", "steps", "grown", "second_of_three", "other_thread", "to_the_end"]
)
def test_peak_time_is_when_it_was_reached(way, case, out):
    """However long it is held. The kernel's tick, which the time is read from, may be 10 ms old."""
    before, after, tick = 0.3, 0.6, 0.02
    arguments = [way, str(int(before * 1e6)), str(int(after * 1e6))]
    report = heaptide_run.traced([case("peak_reached.c"), *arguments], out=out, options=["-q"]).report()
    reached = report["summary"]["peak_seconds"]
    assert before - tick <= reached <= report["seconds"] - after, (reached, report["seconds"])
