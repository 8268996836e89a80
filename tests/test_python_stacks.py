"""Stacks with frames of Python: where its lines stand between native frames, and how many are kept."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import program_build
from expectations import tagged_lines
from heaptide_run import EVERY_ROW, beside, execute
from python_versions import PYTHONS
from report_schema import schema_problems, total_problems

PROGRAMS = Path(__file__).resolve().parent / "python"
LINES = tagged_lines((PROGRAMS / "callback.py").read_text())
LOST = {300: 7, 500: 7}  # bytes of a block: how many


@pytest.fixture(params=PYTHONS)
def python(request):
    return PYTHONS[request.param]


def words(stack):
    """A stack as `function` of native frames and `function:line` of Python's."""
    return [
        f"{frame['function']}:{frame['line']}" if frame["lang"] == "python" else frame["function"] for frame in stack
    ]


def line(function, tag):
    return f"{function}:{LINES[tag]}"


def perf_known(python):
    """Whether it is a CPython with -X perf: 3.12 on, where the trampolines were built in."""
    check = "import sys, sysconfig; sys.exit(not sysconfig.get_config_var('PY_HAVE_PERF_TRAMPOLINE'))"
    done = subprocess.run([python, "-c", check])
    return done.returncode == 0


INNER = ["lose", line("inner", "@inner"), line("middle", "@middle")]
OUTER = ["call_back", line("outer", "@outer"), line("<module>", "@module")]


def lost_stacks(report):
    """{bytes of one block: the stacks that lost such}"""
    found = {}
    for row in report["leaks"]:
        size = (row["direct_bytes"] + row["indirect_bytes"]) // row["blocks"]
        if row["site"]["function"] == "lose":
            found.setdefault(size, []).append(row)
    assert {size: sum(row["blocks"] for row in rows) for size, rows in found.items()} == LOST
    return {size: [words(row["stack"]) for row in rows] for size, rows in found.items()}


def trace(python, out, *options):
    library = program_build.build(PROGRAMS / "callback.c")
    report = beside([python, PROGRAMS / "callback.py", library], out=out, options=["--py", *options]).report(*EVERY_ROW)
    assert schema_problems(report) + total_problems(report) == []
    return report


def test_lines_stand_between_native_frames(python, out):
    """Every evaluation of Python code gives way to its lines; the interpreter's own frames are gone."""
    stacks = lost_stacks(trace(python, out, "--py-depth", "8", "--depth", "64"))
    for stack in stacks[500]:
        assert stack[: len(INNER + OUTER)] == INNER + OUTER
    for stack in stacks[300]:
        assert stack[: len(OUTER) + 1] == ["lose", *OUTER]


def test_one_line_is_kept_by_default(python, out):
    """It is the innermost one; where the stack is cut, it says so."""
    stacks = lost_stacks(trace(python, out))
    for stack in stacks[500]:
        assert stack[:2] == INNER[:2] and "middle" not in str(stack)
    for stack in stacks[300]:
        assert stack[:3] == ["lose", *OUTER[:2]]


def test_lines_beyond_the_window_come_last(python, out):
    """Three native frames do not reach the interpreter's evaluation: the lines follow them all the same."""
    stacks = lost_stacks(trace(python, out, "--py-depth", "2", "--depth", "2"))
    for stack in stacks[500]:
        assert stack == [*INNER[:3], "[truncated]"]


def test_chains_of_objects(python, tmp_path, out):
    """Of Python's own objects N frames are kept, with exact figures for each chain."""
    script = tmp_path / "chain.py"
    script.write_text(
        "keep = []\n"
        "def make(): keep.append(bytes(1000))\n"
        "def one(): make()\n"
        "def two():\n    make()\n    list(map(lambda _: one(), [1]))\n"
        "for _ in range(50): one(); two()\n"
    )
    report = beside([python, script], out=out, options=["--py", "--py-depth", "3"]).report(*EVERY_ROW)
    assert schema_problems(report) + total_problems(report) == []
    found = {}
    for row in report["python"]:
        if row["site"]["function"] == "make":
            stack = " < ".join(f"{frame['function']}:{frame['line']}" for frame in row["stack"])
            found[stack] = row["live_blocks"] - row["live_blocks"] % 50, row["live_bytes"] // 50_000
    whole = [stack.replace("two.<locals>.", "") for stack in found]
    assert sorted(whole) == [
        "make:2 < one:3 < <lambda>:6",
        "make:2 < one:3 < <module>:7",
        "make:2 < two:5 < <module>:7",
    ]
    assert all(figures == (50, 1) for figures in found.values()), found


PERF_PYTHONS = [name for name, path in PYTHONS.items() if perf_known(path)]


@pytest.mark.parametrize("name", PERF_PYTHONS)
def test_names_of_perf_are_those_of_the_lines(name, tmp_path, out):
    """With -X perf each function runs by a trampoline of its own, named in /tmp/perf-PID.map: native stacks have the
    functions that --py finds in its own way, and under --py they are not there twice. The report has them of its own:
    it is read when the map is gone. Without the map nothing is named."""
    library = program_build.build(PROGRAMS / "callback.c")
    found = []
    for number, (python, options) in enumerate(PERF_RUNS):
        command = [PYTHONS[name], *python, PROGRAMS / "callback.py", library]
        bare = execute(command)
        run = beside(command, out=out.with_name(f"perf{number}"), options=[*options, "--depth", "64"], bare=bare)
        maps = [perf_map(pid) for pid in (bare.pid, *reported_pids(run.out))]
        assert [path.exists() for path in maps] == [bool(python)] * 2
        for path in maps:
            path.unlink(missing_ok=True)
        report = run.report(*EVERY_ROW)
        assert schema_problems(report) + total_problems(report) == []
        found.append(functions_of_python(report))
    assert found[0] == found[1] == {500: [PERF_FUNCTIONS], 300: [PERF_FUNCTIONS[2:]]}
    assert found[2] == {500: [[]], 300: [[]]}


PERF_RUNS = [(["-X", "perf"], []), (["-X", "perf"], ["--py", "--py-depth", "8"]), ([], [])]


def perf_map(pid):
    return Path(f"/tmp/perf-{pid}.map")


def reported_pids(folder):
    """The pids that the reports are named after."""
    return {int(number) for path in folder.glob("heaptide.*.bin") for number in re.findall(r"\.(\d+)\.", path.name)}


PERF_FUNCTIONS = ["inner", "middle", "outer", "<module>"]


def functions_of_python(report):
    """{bytes of one block: the stacks that lost such, as functions of the program's file}"""
    stacks = {}
    for row in report["leaks"]:
        if row["site"]["function"] == "lose":
            size = (row["direct_bytes"] + row["indirect_bytes"]) // row["blocks"]
            frames = [frame for frame in row["stack"] if (frame["file"] or "").endswith("callback.py")]
            names = [frame["function"].removeprefix("py::") for frame in frames]
            if names not in stacks.setdefault(size, []):
                stacks[size].append(names)
    return stacks


@pytest.mark.parametrize("depth", ["1", "8"])
def test_85_the_import_system_is_one_frame(depth, python, out, tmp_path):
    """What its dozens of lines allocate is one row, or stands at the import that asked for it."""
    script = tmp_path / "script.py"
    script.write_text("import csv, queue; lines = [str(i) for i in range(500)]\n")
    run = beside([python, script], out=out, options=["--py", "--py-depth", depth])
    report = run.report(*EVERY_ROW)
    assert schema_problems(report) + total_problems(report) == []
    stacks = [row["stack"] for row in report["python"]]
    assert not [stack for stack in stacks for frame in stack if "importlib._" in (frame["file"] or "")]
    imports = [stack for stack in stacks if stack and stack[0]["function"] == "[import]"]
    assert any((stack[1]["file"], stack[1]["line"]) == (str(script), 1) for stack in imports if len(stack) > 1)
    here = [row for row in report["python"] if row["site"]["file"] == str(script) and not row["leaked"]]
    assert sum(row["live_blocks"] for row in here) >= 490, "a call on the line of an import is not hidden"


IMPORTING = """\
import statistics
import importlib

def later():
    import tarfile

def by_name():
    return importlib.import_module("asyncio")

later()
later()
by_name()
"""


def test_85_an_import_has_all_that_it_imports(python, out, tmp_path):
    """One row each, whatever the modules import themselves, and however the import is asked for."""
    script = tmp_path / "script.py"
    script.write_text(IMPORTING)
    report = beside([python, "-S", script], out=out, options=["--py"]).report(*EVERY_ROW)
    assert schema_problems(report) + total_problems(report) == []
    imports = [row for row in report["python"] if row["stack"][0]["function"] == "[import]" and not row["leaked"]]
    bytes_of = {}
    for row in imports:
        for frame in row["stack"][1:]:
            place = Path(frame["file"]).name, frame["line"], frame["function"]
            assert place not in bytes_of, "one row for each import"
            bytes_of[place] = row["live_bytes"]
    assert all(len(row["stack"]) <= 2 for row in imports)
    assert bytes_of["script.py", 1, "<module>"] > 500_000  # decimal, fractions, random and more
    assert bytes_of["script.py", 5, "later"] > 100_000
    assert bytes_of["script.py", 8, "by_name"] > 1_000_000
    within = {"statistics.py", "fractions.py", "random.py", "tarfile.py", "shutil.py", "asyncio", "base_events.py"}
    assert not within & {file for file, _, _ in bytes_of} and ("__init__.py", 126) not in {key[:2] for key in bytes_of}


def test_85_numpy_is_one_row(out):
    """The command of the case: all that its import loads, whichever module of numpy's imports it."""
    pytest.importorskip("numpy", reason="numpy is not in the environment of the tests")
    report = beside([sys.executable, "-c", "import numpy, json, asyncio"], out=out, options=["--py"]).report(*EVERY_ROW)
    rows = [row for row in report["python"] if row["stack"][0]["function"] == "[import]" and not row["leaked"]]
    (row,) = [row for row in rows if (row["site"]["file"], row["site"]["line"]) == ("<string>", 1)]
    assert row["live_bytes"] > 3_000_000 and len(row["stack"]) == 2
    assert not [row for row in rows for frame in row["stack"] if "/numpy/" in (frame["file"] or "")]


STARTED_FROM_C = """\
import _thread, importlib, sys, time
if len(sys.argv) > 1:
    _thread.start_new_thread(importlib.import_module, ("part0",))
    while not hasattr(sys.modules.get("part0"), "DONE"): time.sleep(0.01)
else: import part0
for number in range(1, 40): __import__(f"part{number}")
"""


def test_an_import_without_a_caller_leaves_others_theirs(python, tmp_path):
    """One that no line of Python asked for, in a thread of its own, against one that a line did."""
    for number in range(40):
        functions = "".join(f"def f{i}(): return {i}, 'text of {number} and {i}'\n" for i in range(20))
        (tmp_path / f"part{number}.py").write_text(functions + "DONE = True\n")
    (tmp_path / "script.py").write_text(STARTED_FROM_C)
    found = []
    for arguments in ([], ["before"]):
        run = beside([python, "-B", "script.py", *arguments], out=tmp_path / f"out{len(arguments)}", options=["--py"],
                     cwd=tmp_path)  # fmt: skip
        rows = [row for row in run.report(*EVERY_ROW)["python"] if row["stack"][0]["function"] == "[import]"]
        places = [row for row in rows if row["site"]["line"] == 6 and row["site"]["file"].endswith("script.py")]
        found.append(sum(row["live_blocks"] for row in places))
    alone, after_another = found
    assert alone > 1000 and after_another > 0.9 * alone
