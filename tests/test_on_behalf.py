"""Case 95: what a thread allocates for others stands behind the lines of who queued it, or who started the thread."""

import importlib.util
import sys
from pathlib import Path

import pytest

from expectations import tagged_lines
from heaptide_run import EVERY_ROW, command, read_reports, traced
from page_browser import page_write
from program_build import build
from python_versions import PYTHONS
from report_files import Report, folder_of
from report_schema import schema_problems, total_problems

PROGRAMS = Path(__file__).resolve().parent / "python"
QUEUED, STARTED, BACKWARD = "[on behalf of]", "[started on behalf of]", "[backward of]"
LABELS = (QUEUED, STARTED, BACKWARD)


def library():
    return build(PROGRAMS / "on_behalf.c", flags=["-shared", "-fPIC"])


def run(argv, out, *options, **how):
    report = traced(argv, out=out, options=["-q", "--py", *options], **how).report(*EVERY_ROW)
    assert schema_problems(report) + total_problems(report) == []
    return report


def native_rows_of(report, size):
    """The rows of malloc's blocks of that size."""
    rows = [row for row in report["hotspots"] if row["kind"] == "heap"]
    return [row for row in rows if row["allocated_bytes"] == size * row["allocations"]]


def parts_of(row, source):
    """The stack cut at its labels: {label: the lines of `source` behind it}, "" for the thread's own."""
    parts, label = {"": []}, ""
    for frame in row["stack"]:
        if frame["function"] in LABELS:
            label = frame["function"]
            parts[label] = []
        elif frame.get("lang", "python") == "python" and frame["file"] and Path(frame["file"]).name == source.name:
            parts[label].append(frame["line"])
    return parts


# Size: (label, tag of the innermost line of the program behind it, tag of the thread's own line).
EXPECTED = {
    100_001: (QUEUED, "first", "work"),
    100_002: (QUEUED, "second", "work"),
    100_003: (QUEUED, "function", None),
    100_004: (QUEUED, "map", "work"),
    100_005: (STARTED, "thread", "work"),
    100_006: (STARTED, "subclass", "run"),
    100_007: (STARTED, "native", None),
    100_008: (QUEUED, "asyncio", "work"),
    100_009: (STARTED, "first", "initialize"),
    100_010: (STARTED, "inner", "work"),
    100_011: (None, None, "main"),
    100_012: (QUEUED, "wrapped", "work"),
    100_013: (STARTED, None, None),
}
# What an executor's call starts is on behalf of who queued the call.
STARTED_IN_CALLS = {100_010: "nested", 100_013: "native_nested"}


DEPTHS = [[], ["--py-depth", "2"], ["--py-depth", "64"], ["--depth", "64", "--per-thread"]]


@pytest.mark.parametrize("options", DEPTHS, ids=" ".join)
@pytest.mark.parametrize("name", PYTHONS)
def test_queued_calls_and_started_threads(name, options, out):
    source = PROGRAMS / "on_behalf.py"
    tags = tagged_lines(source.read_text())
    report = run([PYTHONS[name], source, library()], out, *options)
    for size, (label, behind, own) in EXPECTED.items():
        rows = native_rows_of(report, size)
        assert sum(row["allocations"] for row in rows) == (3 if size == 100_004 else 1), (size, rows)
        for row in rows:
            parts = parts_of(row, source)
            queued = STARTED_IN_CALLS.get(size)
            labels = [word for word in (label, queued and QUEUED) if word]
            assert [part for part in parts if part] == labels, (size, parts)
            assert not label or parts[label][:1] == ([tags["@" + behind]] if behind else []), (size, parts, tags)
            assert not queued or parts[QUEUED][0] == tags["@" + queued], (size, parts, tags)
            assert not label or parts[QUEUED if queued else label][-1] == tags["@module"], "all lines further out"
            assert parts[""][:1] == ([tags["@" + own]] if own else []), (size, parts)


def test_without_py_nothing_is_added(out):
    """The lines are Python's: without --py stacks are native ones alone."""
    run = traced([sys.executable, PROGRAMS / "on_behalf.py", library()], out=out, options=["-q"])
    assert not any(frame["function"] in LABELS for row in run.report(*EVERY_ROW)["leaks"] for frame in row["stack"])


STACKS_KEPT = 8192  # QUEUEING_STACKS in pyhooks/object_count.c


def test_calls_queued_from_ever_new_stacks(out):
    """A recursion that queues: memory for their stacks ends, the calls' innermost lines stay."""
    calls = 2 * STACKS_KEPT
    report = run([sys.executable, PROGRAMS / "many_stacks.py", library(), str(calls)], out)
    rows = native_rows_of(report, 100_001)
    assert sum(row["allocations"] for row in rows) == calls
    assert len(rows) <= STACKS_KEPT + 2000
    source = PROGRAMS / "many_stacks.py"
    assert all(parts_of(row, source)[QUEUED] for row in rows)


# ---- what readers make of it


def made_report(depth):
    """A block of a thread with six native frames and a line of Python, started by two lines, in a process that keeps
    `depth` native frames."""
    report = Report(depth=depth)
    natives = [("jit", f"native_{i}", i) for i in range(1, 7)]
    own = [*natives, ("python", "work", "/src/app.py", 5)]
    behalf = [("behalf", STARTED), ("python", "start", "/src/app.py", 9), ("python", "main", "/src/app.py", 20)]
    site = report.site(report.stack(*own, *behalf), calls=(1, 0, 0, 64), live=(64, 1), peak=(64, 1))
    report.leak(site, direct=(64, 1))
    return report.data()


@pytest.mark.parametrize("depth", [0, 2])
def test_stacks_with_labels(depth, tmp_path, show):
    """A label is a frame of the page and of folded stacks, in text both parts have room, and the part behind a label is
    never cut."""
    folder = folder_of(tmp_path, made_report(depth))
    natives = [f"[jit native_{i}]" for i in range(1, 7)]
    own = natives[:depth] + ["[truncated]"] if depth else [*natives, "work"]
    whole = [*own, STARTED, "start", "main"]
    (row,) = read_reports(folder, *EVERY_ROW)[0]["leaks"]
    assert [frame["function"] for frame in row["stack"]] == whole
    text = command("report", folder, "--fail-on", "none", "--no-color").stdout.decode()
    places = [text.index(word) for word in (natives[0], STARTED, "start  app.py:9", "main  app.py:20")]
    assert places == sorted(places) and ("more frame" in text) == (not depth)
    folded = command("report", folder, "--folded", "leaked", "--fail-on", "none").stdout.decode()
    assert folded.count(";") == len(whole) - 1 and f"start app.py:9;{STARTED};" in folded
    box, names = show(page_write(folder, tmp_path / "page.html"), "m=leaked").boxes(), []
    while box["children"]:
        (box,) = box["children"]
        names.append(box["name"])
    assert STARTED in names and names.index(STARTED) == 2, names


# ---- PyTorch


LEVELS, WEIGHTS = 70, 50_000
PASSES = f"""\
import threading
import torch
torch.set_num_threads(1)
LEVELS, WEIGHTS = {LEVELS}, {WEIGHTS}
threads = {{}}
class Level(torch.autograd.Function):
    @staticmethod
    def forward(context, argument, level):
        context.level = level
        return argument.clone()
    @staticmethod
    def backward(context, gradient):
        threads[context.level] = threading.get_native_id()
        if context.level < LEVELS:
            with torch.enable_grad():
                one_level(context.level + 1)
        return gradient, None
def one_level(level):
    weight = torch.ones(WEIGHTS + level, requires_grad=True)
    product = weight * 2  # @forward
    loss = product.sum() + Level.apply(torch.ones(1, requires_grad=True), level).sum()
    loss.backward()  # @backward
one_level(0)
class Failing(torch.autograd.Function):
    @staticmethod
    def forward(context, argument):
        return argument.clone()
    @staticmethod
    def backward(context, gradient):
        raise ValueError
try:
    Failing.apply(torch.ones(1, requires_grad=True)).backward()
    raise SystemExit("no exception")
except ValueError:
    kept = torch.ones(40_001)  # @after
print(*[threads[level] for level in range(LEVELS + 1)])
"""


def bytes_of(level):
    return 4 * (WEIGHTS + level)


@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="torch is pinned for CPython 3.11 only")
def test_backward_passes_of_pytorch(tmp_path, out):
    """A gradient is of the line of the forward pass. From 60 passes inside each other on PyTorch does the next one in a
    thread of its own, which has no line of Python: there it is on behalf of who asked for the pass."""
    source = tmp_path / "passes.py"
    source.write_text(PASSES)
    tags = tagged_lines(PASSES)
    run = traced([sys.executable, source], out=out, options=["-q", "--py"], timeout=200)
    assert run.status == 0, run.describe()
    threads = [int(word) for word in run.stdout.split()]
    report = run.report(*EVERY_ROW)
    elsewhere = [level for level in range(1, LEVELS + 1) if threads[level] != threads[level - 1]]
    assert elsewhere, "PyTorch started no thread of its own"
    gradients = [row for row in report["hotspots"] if row["allocated_bytes"] >= 4 * WEIGHTS]
    gradients = [row for row in gradients if parts_of(row, source).get(BACKWARD) == [tags["@forward"]]]
    assert sum(row["allocated_bytes"] for row in gradients) == sum(bytes_of(level) for level in range(LEVELS + 1))
    queued = [row for row in gradients if QUEUED in parts_of(row, source)]
    assert sum(row["allocated_bytes"] for row in queued) == sum(map(bytes_of, elsewhere)), (elsewhere, queued)
    for row in queued:
        parts = parts_of(row, source)
        assert parts[""] == [] and parts[QUEUED][:1] == [tags["@backward"]] and row["site"]["line"] == tags["@forward"]
    (after,) = [row for row in report["hotspots"] if row["allocated_bytes"] == 160_004]
    assert list(parts_of(after, source)) == [""] and after["site"]["line"] == tags["@after"]
