"""Processes that do the same work: their peaks and leaks are added up, with the least and the most of each."""

import re
import sys

import pytest

from heaptide_run import command, read_reports, traced
from report_files import Report, file_bytes, folder_of
from report_schema import schema_problems

KIB, MIB = 1 << 10, 1 << 20
POOL = """
import ctypes, mmap, multiprocessing, sys, threading
libc = ctypes.CDLL(None)
libc.malloc.restype = None
M_MMAP_THRESHOLD = -3
kept = []

# Where nothing was before, and each block by itself: at a used address something old may still point, and where
# malloc's memory for a thread begins at a multiple of 4 GiB, a number below half an old address does.
def lose(count):
    libc.mallopt(M_MMAP_THRESHOLD, 131_072)
    kept.extend(mmap.mmap(-1, count, prot=0) for _ in range(50))
    libc.malloc(count)

def work(number):
    # In a thread of its own, whose stack is gone then: no word that was left there leads to the block.
    thread = threading.Thread(target=lose, args=[200_000 * (number + 1)])
    thread.start()
    thread.join()
    barrier.wait()

def begin(shared):
    global barrier
    barrier = shared

if __name__ == "__main__":
    way = multiprocessing.get_context(sys.argv[1])
    shared = way.Barrier(3)
    with way.Pool(3, begin, [shared]) as pool:
        pool.map(work, range(3), 1)
        pool.close()
        pool.join()
"""


def made(pid, ppid, words, peak, lost=0, **process):
    flags = {"flags": 16} if "flags" not in process else {}
    report = Report(pid=pid, ppid=ppid, argv=words, exe=f"/bin/{words[0]}", peak=peak, **flags, **process)
    if lost:
        module = report.module("/bin/worker", 2)
        stack = report.stack((module, 0x100))
        report.leak(report.site(stack, live=(lost, 1)), direct=(lost, 1))
    return file_bytes(report.sections())


def groups_of(folder):
    reports = read_reports(folder)
    assert [problem for report in reports for problem in schema_problems(report)] == []
    return {report["pid"]: report["workers"] for report in reports}


def span(total, least, most):
    return {"sum": total, "min": least, "max": most}


def test_sums_least_and_most(tmp_path):
    """A server of three workers, of which one was killed: what it leaked is not known. The fourth that it started is
    another program, and the fifth the worker's child."""
    workers = [(2, 5 * MIB, 300, {}), (3, 7 * MIB, 0, {}), (4, 6 * MIB, 0, {"flags": 0, "reason": "killed"})]
    folder = folder_of(
        tmp_path,
        made(1, 0, ["server"], MIB, flags=17),
        *(made(pid, 1, ["worker", "--id", str(pid)], peak, lost, **how) for pid, peak, lost, how in workers),
        made(5, 1, ["logger"], 2 * MIB),
        made(6, 2, ["worker", "--id", "2"], 9 * MIB),
    )
    wanted = {"count": 3, "peak_bytes": span(18 * MIB, 5 * MIB, 7 * MIB), "leaked_bytes": span(300, 0, 300)}
    assert groups_of(folder) == {1: None, 2: wanted, 3: wanted, 4: wanted, 5: None, 6: None}
    lines = command("report", folder).stdout.decode().splitlines()
    assert lines[:4] == [
        "WORKERS  3 alike from pid 1, worker: in all, and from the least to the most",
        "  peak   18.0 MiB, 5.00 MiB to 7.00 MiB each",
        "  leaked 300 B, 0 B to 300 B each; without 1 of them",
        "",
    ]


@pytest.mark.parametrize(
    "others",
    [
        [made(3, 1, ["cc", "-c", "b.c"], 5 * MIB)],
        [made(3, 2, ["cc", "-c", "a.c"], 5 * MIB)],
        [made(3, 1, ["ld", "-c", "a.c"], 5 * MIB)],
        [made(2, 1, ["cc", "-c", "a.c"], 5 * MIB, image=1, reason="exec")],
    ],
    ids=["another file", "another parent", "another program", "itself before an exec"],
)
def test_who_is_not_alike(others, tmp_path):
    folder = folder_of(tmp_path, made(2, 1, ["cc", "-c", "a.c"], 5 * MIB), *others)
    assert set(groups_of(folder).values()) == {None}
    assert "WORKERS" not in command("report", folder).stdout.decode()


def test_nothing_is_said_of_quiet_ones(tmp_path):
    folder = folder_of(tmp_path, *(made(pid, 1, ["sh"], 1000) for pid in (2, 3)))
    assert groups_of(folder)[2]["count"] == 2
    assert "WORKERS" not in command("report", folder).stdout.decode()


def test_nobody_knows_what_leaked(tmp_path):
    killed = (made(pid, 1, ["worker"], 2 * MIB, flags=0, reason="killed") for pid in (2, 3))
    folder = folder_of(tmp_path, *killed)
    assert groups_of(folder)[2]["leaked_bytes"] is None
    assert "\n  leaked not looked for\n" in command("report", folder).stdout.decode()


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_workers_of_a_pool(way, tmp_path, out):
    """Each loses blocks of its own: one work item each, since all wait for one another in it."""
    (tmp_path / "pool.py").write_text(POOL)
    run = traced([sys.executable, tmp_path / "pool.py", way], out=out)
    assert run.status == 0, run.describe()
    reports = [report for report in run.reports() if report["workers"]]
    lost = [report["summary"]["leaked_direct_bytes"] for report in reports]
    peaks = [report["summary"]["peak_bytes"] for report in reports]
    indirect = [report["summary"]["leaked_indirect_bytes"] for report in reports]
    lost = [direct + other for direct, other in zip(lost, indirect)]
    wanted = {"count": 3, "peak_bytes": span(sum(peaks), min(peaks), max(peaks)),
              "leaked_bytes": span(sum(lost), min(lost), max(lost))}  # fmt: skip
    assert [report["workers"] for report in reports] == [wanted] * 3
    assert sum(lost) >= 1_200_000 and 200_000 <= min(lost) < 400_000 and 600_000 <= max(lost) < 800_000
    text = command("report", out).stdout.decode()
    (count,) = re.findall(r"^WORKERS  (\d) alike from pid", text, re.MULTILINE)
    assert count == "3"
    assert re.search(r"^  leaked 1\.1\d MiB, 19\d KiB to 58\d KiB each$", text, re.MULTILINE), text
