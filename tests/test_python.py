"""`--py` at one frame: what CPython allocates is charged to its file and line, with exact bytes."""

import subprocess
import sys
from pathlib import Path

import pytest

import python_versions
from expectations import tagged_lines
from heaptide_run import EVERY_ROW, beside, command, execute
from report_schema import schema_problems, total_problems

PYTHONS = {**python_versions.PYTHONS, "tests": Path(sys.executable)}

BYTES_OBJECT = 33  # sys.getsizeof(b"")
BYTEARRAY_OBJECT = 56  # sys.getsizeof(bytearray()), its buffer apart

LINES_SCRIPT = """\
import gc
gc.disable()
bytes(1)  # up to 3.10 the first call makes the name "__bytes__", and drops it again for an interned one
keep = [None] * 1000
def fill():
    for index in range(1000):
        keep[index] = bytes(1000)  # @bytes
def cycle():
    box = [None, None]
    box[0] = box
    box[1] = bytearray(2000)  # @leaked
def passing():
    for _ in range(5000):
        bytes(500)  # @passing
fill()
for _ in range(10):
    cycle()
passing()
print(len(keep), sum(map(len, keep)))
"""


@pytest.fixture(params=PYTHONS)
def python(request):
    return PYTHONS[request.param]


@pytest.fixture
def lines_run(python, tmp_path, out):
    (tmp_path / "lines.py").write_text(LINES_SCRIPT)
    run = beside([python, "lines.py"], out=out, options=["--py"], cwd=tmp_path)
    assert (run.status, run.stdout, run.program_stderr) == (0, b"1000 1000000\n", [])
    return run


def rows(report, tag):
    line = tagged_lines(LINES_SCRIPT)[tag]
    return [
        row
        for row in report["python"]
        if Path(row["site"]["file"] or "?").name == "lines.py" and row["site"]["line"] == line
    ]


def test_lines_have_exact_bytes(lines_run):
    report = lines_run.report(*EVERY_ROW)
    assert schema_problems(report) + total_problems(report) == []
    (kept,) = rows(report, "@bytes")
    assert (kept["live_bytes"], kept["live_blocks"]) == (1000 * (1000 + BYTES_OBJECT), 1000), kept
    assert kept["allocations"] == 1000 and not kept["leaked"] and kept["site"]["function"] == "fill"
    assert report["summary"]["by_kind"]["python"]["live_bytes"] >= 2_000_000


def test_unreachable_objects_are_leaked(lines_run):
    """Ten cycles that the disabled collector has not found: objects and buffers of 2000 bytes and their NUL. In an
    interpreter at a fixed low address any number may look like a pointer to a buffer: the larger, the likelier."""
    report = lines_run.report(*EVERY_ROW)
    leaked = [row for row in rows(report, "@leaked") if row["leaked"]]
    assert sum(row["live_bytes"] for row in leaked) == 10 * (BYTEARRAY_OBJECT + 2001), rows(report, "@leaked")
    assert not any(row["leaked"] for row in rows(report, "@bytes"))


def test_passing_objects_are_temporaries(lines_run):
    """5000 objects made and dropped at once, by kind and line."""
    report = lines_run.report(*EVERY_ROW)
    line = tagged_lines(LINES_SCRIPT)["@passing"]
    here = rows(report, "@passing")[0]["site"]["file"]
    found = [
        row
        for row in report["temporaries"]
        if row["kind"] == "python" and row["site"]["line"] == line and row["site"]["file"] == here
    ]
    assert sum(row["temporaries"] for row in found) == 5000


def test_arenas_beyond_their_objects_are_one_row(lines_run):
    """Every total counts the objects in the arenas, and the rest of those once: all Python bytes are the rows' sum."""
    report = lines_run.report(*EVERY_ROW)
    arenas = [row for row in report["peak"] if row["site"]["function"] == "python arenas, free"]
    assert len(arenas) <= 1, arenas
    assert report["python_arenas"]["free_bytes"] > 0, report["python_arenas"]
    assert "python arenas, free: " in command("report", lines_run.out).stdout.decode()


def test_an_empty_program_leaks_nothing(python, out):
    run = beside([python, "-c", "pass"], out=out, options=["--py"])
    report = run.report()
    assert [row for row in report["leaks"] if not row["suppressed"]] == []
    assert [row for row in report["python"] if row["leaked"]] == []


def test_status_and_output_of_a_failing_script(python, out):
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    run = beside([python, "-c", script], out=out, options=["--py"])
    assert (run.status, run.stdout, run.program_stderr) == (3, b"out\n", ["err"])


def test_arguments_and_path_are_untouched(python, tmp_path, out):
    (tmp_path / "args.py").write_text("import sys; print(sys.argv, sys.path, sys.flags, sorted(sys.modules))\n")
    beside([python, "args.py", "--py", "", "a b"], out=out, options=["--py"], cwd=tmp_path)


@pytest.mark.parametrize("words", [["-m", "lines"], ["-I", "lines.py"], ["-S", "-E", "lines.py"], ["-B", "lines.py"]])
def test_ways_to_start(words, tmp_path, out):
    (tmp_path / "lines.py").write_text(LINES_SCRIPT)
    run = beside([sys.executable, *words], out=out, options=["--py"], cwd=tmp_path)
    (kept,) = rows(run.report(*EVERY_ROW), "@bytes")
    assert kept["live_bytes"] == 1000 * (1000 + BYTES_OBJECT)


def test_script_with_a_hash_bang_line(tmp_path, out):
    script = tmp_path / "script"
    script.write_text(f"#!{sys.executable}\n{LINES_SCRIPT}")
    script.chmod(0o755)
    report = beside([script], out=out, options=["--py"]).report(*EVERY_ROW)
    assert any(row["live_bytes"] == 1000 * (1000 + BYTES_OBJECT) for row in report["python"])


def test_python_of_a_venv(tmp_path, out):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    (tmp_path / "lines.py").write_text(LINES_SCRIPT)
    run = beside([tmp_path / "venv/bin/python", "lines.py"], out=out, options=["--py"], cwd=tmp_path)
    assert rows(run.report(*EVERY_ROW), "@bytes")


def test_threads_and_subprocesses(tmp_path, out):
    script = (
        "import subprocess, sys, threading\nkept = []\n"
        "def work(): kept.append(bytearray(1 << 20))\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "[thread.start() for thread in threads]; [thread.join() for thread in threads]\n"
        "subprocess.run([sys.executable, '-c', 'x = bytearray(3 << 20)'])\nprint(len(kept))\n"
    )
    (tmp_path / "threads.py").write_text(script)
    run = beside([sys.executable, "threads.py"], out=out, options=["--py"], cwd=tmp_path)
    reports = run.reports(*EVERY_ROW)
    assert len(reports) == 2
    for report in reports:
        assert schema_problems(report) + total_problems(report) == []
    main = run.report(*EVERY_ROW)
    work = [row for row in main["python"] if row["site"]["function"] == "work"]
    assert 8 << 20 <= sum(row["live_bytes"] for row in work) < (8 << 20) + 2000, work


@pytest.mark.parametrize("malloc", ["malloc", "debug", "pymalloc", "malloc_debug"])
def test_other_allocators(malloc, tmp_path, out):
    """The interpreter's own choice of allocator stays; what --py cannot see then is said."""
    (tmp_path / "lines.py").write_text(LINES_SCRIPT)
    env = {"PYTHONMALLOC": malloc}
    run = beside([sys.executable, "lines.py"], out=out, options=["--py"], cwd=tmp_path, env=env)
    report = run.report(*EVERY_ROW)
    assert rows(report, "@bytes") or report["notes"]


def test_without_py_there_is_no_python_list(tmp_path, out):
    (tmp_path / "lines.py").write_text(LINES_SCRIPT)
    run = beside([sys.executable, "lines.py"], out=out, cwd=tmp_path)
    report = run.report(*EVERY_ROW)
    assert report["python"] == [] and report["summary"]["by_kind"].get("python", {}).get("live_bytes", 0) == 0
    assert execute([sys.executable, "lines.py"], cwd=tmp_path).status == 0
