"""100 threads that allocate, resize and free each other's blocks, with signals and forks mixed in: the program counts
its own calls and bytes, and the report has to hold exactly those; nothing may hang."""

import pytest

import heaptide_run
from conftest import PLANTED
from expectations import rows_at, tagged_lines
from report_schema import schema_problems, total_problems

SOURCE = PLANTED / "stress.c"
THREADS = 100
ROUNDS = 50
CALLS_AT_FULL_SIZE = 1_000_000  # of each thread; about a minute a round on two cores, the bare program not much less


def counted(stdout):
    """What the program says: {"malloc": (calls, bytes), "realloc": ..., "lost": (blocks, bytes)}."""
    words = [line.split() for line in stdout.decode().splitlines()]
    return {name: (int(first), int(second)) for name, first, second in words}


def reported(report):
    """The same figures from the report."""
    lines = tagged_lines(SOURCE.read_text())
    found = {}
    for name in ("malloc", "realloc"):
        rows = rows_at(report, "hotspots", SOURCE, lines[f"@{name}"])
        found[name] = (sum(row["allocations"] for row in rows), sum(row["allocated_bytes"] for row in rows))
    leaks = [row for name in ("malloc", "realloc") for row in rows_at(report, "leaks", SOURCE, lines[f"@{name}"])]
    found["lost"] = (
        sum(row["blocks"] for row in leaks),
        sum(row["direct_bytes"] + row["indirect_bytes"] for row in leaks),
    )
    return found


def stress(planted, out, calls, seed, timeout):
    program = planted("stress.c")
    run = heaptide_run.traced([program, THREADS, calls, seed], out=out, options=["-q"], timeout=timeout)
    if run.status == 77:
        pytest.skip(f"this machine does not allow {THREADS} threads")
    assert run.status == 0 and run.stderr == "", run.describe()
    report = run.report(*heaptide_run.EVERY_ROW)
    assert schema_problems(report) + total_problems(report) == []
    assert reported(report) == counted(run.stdout)
    children = [report for report in run.reports() if not report["main"]]
    assert children and all(child["summary"]["leaked_blocks"] == 0 for child in children)


@pytest.mark.heavy
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(1, ROUNDS + 1))
def test_round(seed, planted, out, pytestconfig):
    stress(planted, out, pytestconfig.getoption("--stress-calls"), seed, timeout=540)


@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_full_size(planted, out):
    stress(planted, out, CALLS_AT_FULL_SIZE, seed=99, timeout=540)
