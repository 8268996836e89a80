"""What forked processes have together: pages that a fork left in several of them count once, and are named."""

import platform
import re
import struct
import subprocess
import sys

import pytest

from conftest import TESTS
from heaptide_run import COMMAND, command, read_reports, traced
from report_files import Report, file_bytes, folder_of
from report_schema import schema_problems
from test_life import life  # noqa: F401 (a fixture)

MIB = 1 << 20
TABLE_BYTES = 64 * MIB
RESIDENT, SHARED_SITES = 29, 30
KERNEL = tuple(int(number) for number in re.match(r"(\d+)\.(\d+)", platform.release()).groups())
SLACK_BYTES = 64 << 10  # some pages at the table's ends


def by_role(reports):
    """The parent's `resident`, and its workers' by what they share, falling."""
    (parent,) = [report["resident"] for report in reports if report["main"]]
    workers = [report["resident"] for report in reports if not report["main"]]
    return parent, sorted(workers, key=lambda resident: -resident["shared_bytes"])


def of_table(resident):
    """Bytes of the table that a process shares; it is the largest that it does."""
    rows = resident["shared_by_site"]
    assert [row["bytes"] for row in rows] == sorted((row["bytes"] for row in rows), reverse=True)
    return next((row["bytes"] for row in rows if row["site"]["function"] == "table_build"), 0)


def halves_shared(workers):
    """Two workers share the whole table, two the half that they have not written to."""
    shared = [of_table(worker) for worker in workers]
    wanted = [TABLE_BYTES] * 2 + [TABLE_BYTES // 2] * 2
    assert len(shared) == 4
    assert all(abs(found - value) <= SLACK_BYTES for found, value in zip(shared, wanted)), shared


def test_pages_of_forked_workers_count_once(life, out):  # noqa: F811
    reports = traced([life("fork_pages.c")], out=out).reports()
    assert [problem for report in reports for problem in schema_problems(report)] == []
    parent, workers = by_role(reports)
    (pid,) = [report["pid"] for report in reports if report["main"]]
    halves_shared(workers)
    assert parent["forked_from"] is None and parent["shared_bytes"] == 0 and parent["shared_by_site"] == []
    for worker in workers:
        assert worker["forked_from"] == pid
        # Nearly all of a worker's memory is the table: what else is anonymous in this program is small.
        assert TABLE_BYTES <= worker["anonymous_bytes"] <= TABLE_BYTES + MIB
        assert of_table(worker) <= worker["shared_bytes"] <= of_table(worker) + MIB
        assert worker["anonymous_bytes"] <= worker["bytes"]
    once = sum(resident["counted_bytes"] for resident in (parent, *workers))
    assert 2 * TABLE_BYTES <= once <= 2 * TABLE_BYTES + 2 * MIB
    rows = [row for report in reports if not report["main"] for row in report["peak"] + report["hotspots"]]
    assert {row["site"]["function"] for row in rows} == {"worker_run"}  # the table is still the parent's


def test_the_report_says_it_first(life, out):  # noqa: F811
    run = traced([life("fork_pages.c")], out=out)
    (pid,) = [report["pid"] for report in run.reports() if report["main"]]
    lines = command("report", out).stdout.decode().splitlines()
    once, count = re.match(r"FORKED  (\d+) MiB of anonymous memory in (\d) processes, copy-on-write", lines[0]).groups()
    assert count == "5" and 128 <= int(once) <= 130
    assert 320 <= int(re.search(r"counted in each: (\d+) MiB", lines[1])[1]) <= 325
    assert re.fullmatch(rf"  pid {pid}, fork_pages: 64\.\d MiB, 0 B of it in others too", lines[2]), lines[2]
    assert re.fullmatch(rf"  4 forked from pid {pid}: 25[67] MiB, 64\.\d MiB to 64\.\d MiB each", lines[3]), lines[3]
    assert re.fullmatch(r"      in others too: 19[23] MiB, 32\.\d MiB to 64\.\d MiB each", lines[4]), lines[4]
    assert re.fullmatch(r" +64\.0 MiB  of heap shared in 4 processes: table_build fork_pages\.c:\d+", lines[5])


def test_one_of_a_kind_has_no_range(tmp_path):
    folder = folder_of(tmp_path, made(1, 0, 0, 9, 64, 0), made(2, 1, 1, 3, 65, 64))
    lines = command("report", folder).stdout.decode().splitlines()
    at = lines.index("  1 forked from pid 1: 65.0 MiB")
    assert lines[at + 1] == "      in others too: 64.0 MiB"


def test_pages_of_a_pool_under_python(out):
    """The parent's interpreter frees the table before the parent ends, after its workers."""
    reports = traced([sys.executable, TESTS / "life" / "fork_pool.py"], out=out, options=["--py"]).reports()
    assert [problem for report in reports for problem in schema_problems(report)] == []
    parent, workers = by_role(reports)
    halves_shared(workers)
    own = sum(worker["anonymous_bytes"] - worker["shared_bytes"] for worker in workers)
    assert TABLE_BYTES <= own <= TABLE_BYTES + 32 * MIB
    once = sum(resident["counted_bytes"] for resident in (parent, *workers))
    assert once == own + max(workers[0]["shared_bytes"], parent["anonymous_bytes"])


def test_a_snapshot_of_all_while_they_run(life, out):  # noqa: F811
    words = [COMMAND, "run", "-q", "--out", out, "--", life("fork_pages.c")]
    run = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert run.stdout.readline() == b"ready\n"
        assert command("snapshot", out, "--label", "now").status == 0
        parent, workers = by_role(read_reports(out / "now"))
    finally:
        run.stdin.close()
        assert run.wait(20) == 0
    halves_shared(workers)
    assert abs(of_table(parent) - TABLE_BYTES) <= SLACK_BYTES
    once = sum(resident["counted_bytes"] for resident in (parent, *workers))
    assert 2 * TABLE_BYTES <= once <= 2 * TABLE_BYTES + 2 * MIB


@pytest.mark.parametrize("options", [[], ["--per-thread"]], ids=["plain", "per-thread"])
def test_sites_of_threads_are_one_site(life, out, options):  # noqa: F811
    """Twenty threads' parts of one size, and a smaller block that is no thread's: two rows, however sites are kept."""
    run = traced([life("fork_threads.c")], out=out, options=options)
    (child,) = [report for report in run.reports() if not report["main"]]
    assert schema_problems(child) == []
    rows = {row["site"]["function"]: row["bytes"] for row in child["resident"]["shared_by_site"]}
    assert len(rows) == len(child["resident"]["shared_by_site"])
    assert abs(rows["part_build"] - 20 * MIB) <= 20 * SLACK_BYTES, rows
    assert abs(rows["rest_build"] - MIB // 2) <= SLACK_BYTES, rows


@pytest.mark.skipif(KERNEL < (6, 7), reason="older kernels do not tell a page of zeros")
def test_what_was_only_read_is_nobodys(life, out):  # noqa: F811
    parent, workers = by_role(traced([life("fork_pages.c"), "read"], out=out).reports())
    assert all(TABLE_BYTES <= resident["anonymous_bytes"] <= TABLE_BYTES + MIB for resident in (parent, *workers))
    halves_shared(workers)


def test_who_never_forks_is_not_looked_at(planted, out):
    assert traced([planted("two_leaks.c")], out=out).report()["resident"] is None


# ---- made up: who counts what


def made(pid, forked_from, begins, ends, anonymous, shared, **process):
    """A report of a process with these figures, of times in seconds and bytes in MiB."""
    started = 1_790_000_000_000_000_000 + begins * 10**9
    report = Report(pid=pid, flags=16 | (0 if forked_from else 1), started=started,
                    duration=(ends - begins) * 10**9, **process)  # fmt: skip
    known = anonymous is not None
    row = struct.pack("<II3Q", forked_from, known, *([0] * 3 if not known else [MIB * anonymous] * 2 + [MIB * shared]))
    return file_bytes({**report.sections(), RESIDENT: row})


def test_sites_with_one_stack_are_one_row(tmp_path):
    """Of two threads, in a report of a recorder that did not add them up."""
    report = Report(flags=16)
    stack, other = report.stack(("jit", "take", 1)), report.stack(("jit", "keep", 1))
    sites = [report.site(stack, owner=1), report.site(other, owner=1), report.site(stack, owner=2)]
    report.owner(11, "one"), report.owner(12, "two")
    sections = report.sections()
    sections[RESIDENT] = struct.pack("<II3Q", 1, 1, MIB, MIB, MIB)
    sections[SHARED_SITES] = b"".join(struct.pack("<IIQ", site, 0, size) for site, size in zip(sites, (50, 40, 30)))
    (found,) = read_reports(folder_of(tmp_path, file_bytes(sections)))
    rows = found["resident"]["shared_by_site"]
    assert [(row["site"]["function"], row["bytes"]) for row in rows] == [("[jit take]", 80), ("[jit keep]", 40)]


WORKERS = [(2, 1, 1, 3, 65, 64), (3, 1, 1, 4, 66, 60)]
ORPHANS = [(2, 1, 1, 3, 65, 60), (3, 1, 1, 4, 66, 2)]
MADE = {
    "the parent ends last and keeps them": ([(1, 0, 0, 9, 64, 0), *WORKERS], [64, 1, 6]),
    "the parent ends last and gave them back": ([(1, 0, 0, 9, 4, 0), *WORKERS], [64, 1, 6]),
    "the parent ends first": ([(1, 0, 0, 2, 64, 64), (2, 1, 1, 3, 65, 60), (3, 1, 1, 4, 66, 0)], [0, 5, 66]),
    "the parent was killed": ([(1, 0, 0, 2, None, 0), *ORPHANS], [None, 5, 66]),
    "the parent has no report": (ORPHANS, [5, 66]),
    "a worker of a worker": ([(1, 0, 0, 9, 10, 0), (2, 1, 1, 8, 30, 10), (3, 2, 2, 4, 31, 30)], [10, 20, 1]),
    "a worker's worker ends later": ([(1, 0, 0, 9, 1, 0), (2, 1, 1, 5, 200, 200), (3, 2, 2, 8, 200, 0)], [1, 0, 200]),
    "through a worker": ([(1, 0, 0, 9, 4, 0), (2, 1, 1, 8, 70, 64), (3, 2, 2, 4, 71, 70)], [64, 6, 1]),
    "no family": ([(1, 0, 0, 9, 10, 3), (2, 0, 1, 8, 30, 10)], [10, 30]),
}


@pytest.mark.parametrize("case", MADE)
def test_who_counts_what(case, tmp_path):
    processes, wanted = MADE[case]
    folder = folder_of(tmp_path, *(made(*process) for process in processes))
    found = {report["pid"]: report["resident"] and report["resident"]["counted_bytes"] / MIB
             for report in read_reports(folder)}  # fmt: skip
    assert [found[process[0]] for process in processes] == wanted


def test_snapshots_count_what_most_share(tmp_path):
    processes = [(1, 0, 0, 5, 64, 64), (2, 1, 1, 5, 65, 64), (3, 1, 1, 5, 65, 32)]
    folder = folder_of(tmp_path, *(made(*process, reason="snapshot") for process in processes))
    assert sum(report["resident"]["counted_bytes"] for report in read_reports(folder)) == (64 + 1 + 33) * MIB


@pytest.mark.parametrize(
    "sections",
    [{RESIDENT: bytes(2 * 32)}, {RESIDENT: bytes(31)}, {SHARED_SITES: struct.pack("<IIQ", 0, 0, 1)},
     {SHARED_SITES: struct.pack("<IIQ", 999, 0, 1)}],
    ids=["two", "cut", "site 0", "no such site"],
)  # fmt: skip
def test_damaged(sections, tmp_path):
    done = command("report", folder_of(tmp_path, file_bytes({**Report().sections(), **sections})))
    assert done.status == 2 and "damaged" in done.stderr, done.describe()


def test_a_process_that_shares_more_than_it_has(tmp_path):
    folder = folder_of(tmp_path, made(1, 0, 0, 9, 4, 9), made(2, 1, 1, 2, 3, 1 << 40))
    (first, second) = [report["resident"]["counted_bytes"] for report in read_reports(folder)]
    assert (first, second) == (4 * MIB, 0)
