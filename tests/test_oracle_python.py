"""The figures of `--py` beside those of tools that count in another way: tracemalloc, which is a part of Python, and
memray. They agree to the byte; where they may not, the reason stands here or in the program."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from heaptide_run import EVERY_ROW, beside
from python_versions import PYTHONS

PROGRAMS = Path(__file__).resolve().parent / "python"
HASHES = {"PYTHONHASHSEED": "0"}  # sets and dicts of strings grow alike in each run


def lines_between(program, first, last):
    """The numbers of the lines from the one that starts with `first` to the one before `last`, without those that end
    in `# apart` and those where a function begins."""
    lines = program.read_text().splitlines()
    begin, end = (next(i for i, line in enumerate(lines) if line.startswith(start)) for start in (first, last))
    return [i + 1 for i in range(begin, end) if not lines[i].startswith("def ") and not lines[i].endswith("# apart")]


def different(lines, theirs, ours):
    """{line: (theirs, ours)} where they differ; at least some lines must be there to compare."""
    assert sum(line in theirs for line in lines) >= 20, theirs
    pairs = {line: (theirs.get(line, (0, 0)), ours.get(line, (0, 0))) for line in lines}
    return {line: (tuple(a), tuple(b)) for line, (a, b) in pairs.items() if tuple(a) != tuple(b)}


# ---- what is live: tracemalloc


def live_of_tracemalloc(python, program, tmp_path):
    """{(file, line): (bytes, blocks)}"""
    command = [python, "-X", "tracemalloc=1", program, tmp_path / "lines.json"]
    subprocess.run(command, check=True, env={**os.environ, **HASHES}, timeout=120)
    lines = defaultdict(lambda: (0, 0))
    for place, figures in json.loads((tmp_path / "lines.json").read_text()).items():
        file, line = place.rsplit(":", 1)
        lines[Path(file).name, int(line)] = tuple(figures)
    return lines


def live_of_heaptide(report):
    found = defaultdict(lambda: (0, 0))
    for row in report["python"]:
        at = Path(row["site"]["file"] or "?").name, row["site"]["line"]
        found[at] = found[at][0] + row["live_bytes"], found[at][1] + row["live_blocks"]
    return found


@pytest.mark.parametrize("name", PYTHONS)
def test_live_bytes_and_blocks_are_those_of_tracemalloc(name, tmp_path, out):
    """Every line of the program's sections, and where json makes what they keep, to the byte. Elsewhere two things
    differ: blocks in the interpreter's free lists, see the program, and what was made before tracemalloc was up."""
    program = PROGRAMS / "oracle_lines.py"
    theirs = live_of_tracemalloc(PYTHONS[name], program, tmp_path)
    run = beside([PYTHONS[name], program], out=out, options=["--py"], env=HASHES, timeout=120)
    report = run.report(*EVERY_ROW)
    ours = live_of_heaptide(report)
    places = [(program.name, line) for line in lines_between(program, "def made_and_dropped", "for section in")]
    places += [place for place in {*theirs, *ours} if place[0] == "decoder.py" and theirs[place][0] > 100_000]
    assert different(places, theirs, ours) == {}
    assert sum(ours[place][0] for place in places) > 9_000_000
    kinds = report["summary"]["by_kind"]["python"]
    assert sum(row["live_bytes"] for row in report["python"]) == kinds["live_bytes"]


# ---- what was allocated: memray


def calls_of_memray(program, tmp_path):
    """{(line, kind): (allocations, bytes)}. Like heaptide, memray does not record what is allocated inside an
    allocation of Python: neither pymalloc's arenas nor the malloc below it."""
    memray = pytest.importorskip("memray", reason="memray is not in the environment of the tests")
    file = tmp_path / "memray.bin"
    command = [sys.executable, "-m", "memray", "run", "-q", "--trace-python-allocators", "--native", "-o", file]
    subprocess.run([*command, program], check=True, env={**os.environ, **HASHES}, timeout=120)
    found = defaultdict(lambda: (0, 0))
    for record in memray.FileReader(file).get_allocation_records():
        allocator = memray.AllocatorType(record.allocator).name
        stack = [] if "FREE" in allocator or allocator == "MUNMAP" else record.stack_trace(1)
        if not stack or stack[0][1] != str(program):
            continue
        at = stack[0][2], "python" if allocator.startswith("PYMALLOC") else "heap"
        found[at] = found[at][0] + record.n_allocations, found[at][1] + record.size
    return found


def calls_of_heaptide(report, program):
    found = defaultdict(lambda: (0, 0))
    for row in report["hotspots"]:
        lines = [frame for frame in row["stack"] if frame.get("lang", "python") == "python" and "module" not in frame]
        if lines and lines[0]["file"] == str(program):
            at = lines[0]["line"], row["kind"]
            found[at] = found[at][0] + row["allocations"], found[at][1] + row["allocated_bytes"]
    return found


def test_allocations_and_their_bytes_are_those_of_memray(tmp_path, out):
    """Objects of Python line by line, and the blocks that C libraries took from malloc below a line."""
    program = PROGRAMS / "oracle_calls.py"
    theirs = calls_of_memray(program, tmp_path)
    run = beside([sys.executable, program], out=out, options=["--py"], env=HASHES, timeout=120)
    ours = calls_of_heaptide(run.report(*EVERY_ROW), program)
    lines = lines_between(program, "def strings", "SECTIONS")
    places = [(line, "python") for line in lines]
    places += [place for place in {*theirs, *ours} if place[1] == "heap"]
    assert different(places, theirs, ours) == {}
    assert sum(place[1] == "heap" for place in places) >= 2
