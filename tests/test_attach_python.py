"""`heaptide attach --py`: Python's hooks go into interpreters that run, and out of them again."""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from heaptide_run import EVERY_ROW, read_reports
from python_versions import PYTHONS
from report_schema import total_problems
from test_attach import bare, done

PROGRAM = Path(__file__).resolve().parent / "python" / "attached.py"
BYTEARRAY_OBJECT = 56  # sys.getsizeof(bytearray()), its buffer apart, which has a NUL at its end
END_STATUS = 7


@pytest.fixture(params=PYTHONS)
def python(request):
    return PYTHONS[request.param]


@contextmanager
def attached_to(python, *words):
    with bare([python, PROGRAM, *words]) as process:
        yield process
        process.stdin.close()
        assert process.stdout.read() == "" and process.wait(20) == END_STATUS


def tell(process, word, answer="done"):
    process.stdin.write(f"{word}\n")
    process.stdin.flush()
    words = process.stdout.readline().split()
    assert words[:1] == [answer], words
    return words[1:]


def line_of(tag):
    lines = PROGRAM.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# @{tag}"))


def rows(report, tag=None):
    own = [row for row in report["python"] if Path(row["site"]["file"] or "?").name == PROGRAM.name]
    return [row for row in own if tag is None or row["site"]["line"] == line_of(tag)]


def test_lines_of_what_comes_after(python, out):
    with attached_to(python) as process:
        run = done("attach", process.pid, "--py", "--out", out)
        assert len(run.own_stderr) == 1, run.stderr
        for word in ("keep", "small", "forget", "lose"):
            tell(process, word)
        done("detach", out)
        tell(process, "keep")
    (report,) = read_reports(out, *EVERY_ROW)
    assert report["attached"] and report["reason"] == "detach" and total_problems(report) == []
    assert any("from before the attach" in note for note in report["notes"]), report["notes"]
    own = rows(report)
    boxes = [row for row in own if row["site"]["function"].endswith("__init__")]
    assert sum(row["live_bytes"] for row in boxes) >= 10 * (BYTEARRAY_OBJECT + 100_001)
    assert sum(row["live_bytes"] for row in boxes) < 10 * (BYTEARRAY_OBJECT + 100_001) + 50_000
    assert any(500 * 16 <= row["live_bytes"] < 500 * 16 + 20_000 for row in rows(report, "small"))
    lost = sum(row["live_bytes"] for row in report["python"] if row["leaked"])
    assert lost < 3 * 5_000, "what is kept by objects from before is not lost"
    assert not report["leaks"] or sum(leak["direct_bytes"] for leak in report["leaks"]) < 5000, report["leaks"]


def test_callers_of_a_line(python, out):
    """--py-depth: as many lines as asked for, innermost first."""
    with attached_to(python) as process:
        done("attach", process.pid, "--py", "--py-depth", "3", "--out", out)
        tell(process, "deep")
        done("detach", out)
    (report,) = read_reports(out, *EVERY_ROW)
    stacks = [[frame["line"] for frame in row["stack"]] for row in rows(report, "inner")]
    assert [line_of(tag) for tag in ("inner", "middle", "outer")] in stacks, stacks


def test_rounds_leave_the_interpreter_as_it_was(python, tmp_path):
    with attached_to(python, "busy", "thread") as process:
        own = tell(process, "allocators")
        for number in range(20 if "/usr/bin" in str(python) else 4):
            folder = tmp_path / str(number)
            done("attach", process.pid, "--py", "--out", folder)
            assert tell(process, "allocators") != own
            tell(process, "keep")
            if number % 3 == 0:
                done("snapshot", folder)
            done("detach", folder)
            assert tell(process, "allocators") == own
            tell(process, "small")
        (report,) = read_reports(folder)
        assert sum(row["live_bytes"] for row in rows(report)) > 1_000_000, report["python"]


def test_the_end_of_an_attached_interpreter(python, out):
    with attached_to(python, "thread") as process:
        done("attach", process.pid, "--py", "--out", out)
        tell(process, "keep")
        tell(process, "lose")
    (report,) = read_reports(out, *EVERY_ROW)
    assert report["reason"] == "exit" and total_problems(report) == []
    if "3.9" not in str(python):  # its only exit function is taken
        assert sum(row["live_bytes"] for row in rows(report)) >= 1_000_000


def test_a_call_that_keeps_the_lock(out, monkeypatch):
    """The interpreter is let be, and the hooks go in when the call has returned."""
    end, held = os.pipe()
    os.set_inheritable(end, True)
    monkeypatch.setenv("HOLD_FD", str(end))
    words = [PYTHONS["system"], PROGRAM]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=[end])
    try:
        assert process.stdout.readline() == "ready\n"
        own = tell(process, "allocators")
        tell(process, "hold_lock", "holding")
        run = done("attach", process.pid, "--py", "--out", out)
        assert "busy in one call" in run.stderr
        os.write(held, b"x")
        assert process.stdout.readline() == "done\n"
        while tell(process, "allocators") == own:
            pass
        tell(process, "keep")
        done("detach", out)
        process.stdin.close()
        assert process.wait(20) == END_STATUS
    finally:
        process.kill()
        process.wait()
        os.close(held)
        os.close(end)
    (report,) = read_reports(out)
    assert sum(row["live_bytes"] for row in rows(report)) >= 1_000_000


def test_an_end_while_the_lock_is_kept(out, tmp_path, monkeypatch):
    """Detached before the hooks could go in, and attached again while that thread still waits."""
    end, held = os.pipe()
    monkeypatch.setenv("HOLD_FD", str(end))
    process = subprocess.Popen([PYTHONS["system"], PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               pass_fds=[end])  # fmt: skip
    try:
        assert process.stdout.readline() == "ready\n"
        own = tell(process, "allocators")
        tell(process, "hold_lock", "holding")
        done("attach", process.pid, "--py", "--out", out)
        done("detach", out)
        done("attach", process.pid, "--out", tmp_path / "again")
        os.write(held, b"x")
        assert process.stdout.readline() == "done\n"
        tell(process, "keep")
        assert tell(process, "allocators") == own
        done("detach", tmp_path / "again")
        process.stdin.close()
        assert process.wait(20) == END_STATUS
    finally:
        process.kill()
        process.wait()
        os.close(held)
        os.close(end)


def test_another_tool_above_the_hooks(python, tmp_path):
    """tracemalloc keeps what it found; heaptide's hooks stay under it, and pass through."""
    with attached_to(python) as process:
        own = tell(process, "allocators")
        done("attach", process.pid, "--py", "--out", tmp_path / "first")
        tell(process, "trace")
        tell(process, "keep")
        done("detach", tmp_path / "first")
        tell(process, "keep")
        run = done("attach", process.pid, "--py", "--out", tmp_path / "second")
        assert "not Python's own" in run.stderr
        tell(process, "keep")
        tell(process, "forget")
        done("detach", tmp_path / "second")
        tell(process, "trace_end")
        tell(process, "keep")
        done("attach", process.pid, "--py", "--out", tmp_path / "third")
        tell(process, "keep")
        done("detach", tmp_path / "third")
        assert tell(process, "allocators") == own
    assert all(row["kind"] != "python" for row in read_reports(tmp_path / "second")[0]["peak"])
    for name in ("first", "third"):
        (report,) = read_reports(tmp_path / name)
        assert sum(row["live_bytes"] for row in rows(report)) >= 1_000_000, name


@pytest.mark.parametrize("version", [name for name in ("3.12", "3.13", "3.14") if name in PYTHONS])
def test_several_interpreters_are_left_alone(version, out):
    with attached_to(PYTHONS[version]) as process:
        tell(process, "interpreter")
        own = tell(process, "allocators")
        run = done("attach", process.pid, "--py", "--out", out)
        assert "several interpreters" in run.stderr and tell(process, "allocators") == own
        done("detach", out)


def test_a_process_without_python(out):
    process = subprocess.Popen(["/bin/sleep", "60"])
    try:
        run = done("attach", process.pid, "--py", "--out", out)
        assert "no Python that heaptide knows" in run.stderr and len(run.own_stderr) == 2
        done("detach", out)
    finally:
        process.kill()
        process.wait()


def test_the_folder_is_called_after_the_script(tmp_path):
    with attached_to(next(iter(PYTHONS.values()))) as process:
        done("attach", "--py", process.pid, cwd=tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == [f"heaptide.attached.py.{process.pid}"]
        done("detach", next(tmp_path.iterdir()))
