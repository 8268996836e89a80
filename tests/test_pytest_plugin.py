"""`pytest --heaptide`: leaks and peaks of each test of a planted project."""

import importlib.metadata
import os
import sys
from xml.etree import ElementTree

import pytest

import heaptide_run
from heaptide_run import execute
from program_build import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "pyhooks" / "heaptide"))
import pytest_plugin  # noqa: E402

PROJECT = """
import ctypes, mmap, os, threading
import pytest

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
kept = []

# Blocks that malloc maps, at addresses where nothing was before: at a used one something old may still point.
def lose(count):
    M_MMAP_THRESHOLD = -3
    libc.mallopt(M_MMAP_THRESHOLD, 131_072)
    kept.extend(mmap.mmap(-1, count, prot=0) for _ in range(200))
    libc.malloc(count)

# In a thread of its own, whose stack is gone with all that it held.
def lose_apart(count):
    thread = threading.Thread(target=lose, args=(count,))
    thread.start()
    thread.join()

@pytest.fixture(scope="module")
def table():
    return bytearray(2 << 20)

def test_clean():
    assert bytes(100)

def test_leaks():
    lose_apart(500_000)

@pytest.mark.limit_leaks("1 KiB")
def test_leaks_too_much():
    lose_apart(600_000)

@pytest.mark.limit_leaks("1 MiB")
def test_leaks_little():
    lose_apart(400_000)

@pytest.mark.limit_leaks(0)
def test_keeps_but_does_not_leak():
    kept.append(bytearray(100_000))

@pytest.mark.limit_memory("1 MiB")
def test_takes_much():
    bytearray(3 << 20)

@pytest.mark.limit_memory("1 MiB")
def test_takes_little():
    bytearray(1 << 18)

@pytest.mark.limit_memory("1 MiB")
def test_fixtures_count(table):
    pass

def test_fails():
    print("said before")
    assert 1 == 2

def test_is_skipped():
    pytest.skip("for a reason")

def test_crashes():
    os.kill(os.getpid(), 9)
"""
OUTCOMES = {
    "test_clean": "passed", "test_leaks": "passed", "test_leaks_too_much": "failed", "test_leaks_little": "passed",
    "test_keeps_but_does_not_leak": "passed", "test_takes_much": "failed", "test_takes_little": "passed",
    "test_fixtures_count": "failed", "test_fails": "failed", "test_is_skipped": "skipped", "test_crashes": "failed",
}  # fmt: skip
SOURCE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(REPOSITORY / "pyhooks")}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_memory.py").write_text(PROJECT)
    return folder


def environment(**more):
    return {"PATH": f"{heaptide_run.COMMAND.parent}:{os.environ['PATH']}", "COLUMNS": "100", **more}


def run_pytest(project, *options, before=(), **variables):
    """pytest on the project, and what became of each test."""
    results = project / "results.xml"
    results.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-p", "heaptide.pytest_plugin", "--strict-markers", *options]
    done = execute([*before, *command, f"--junitxml={results}"], timeout=150, cwd=project,
                   env=environment(**(variables or SOURCE)))  # fmt: skip
    assert results.exists(), done.describe()
    return done, results


def outcomes(results):
    found = {}
    for case in ElementTree.parse(results).iter("testcase"):
        found[case.get("name")] = {"failure": "failed", "skipped": "skipped"}.get(
            next((child.tag for child in case if child.tag in ("failure", "skipped", "error")), ""), "passed"
        )
    return found


@pytest.fixture(scope="module")
def measured(project):
    """pytest starts itself under heaptide."""
    return run_pytest(project, "--heaptide", "--heaptide-out", project / "reports")


def test_limits_decide(measured):
    done, results = measured
    assert outcomes(results) == OUTCOMES and done.status == 1, done.describe()


def test_a_leak_over_its_limit_names_its_line(measured):
    text = measured[0].stdout.decode()
    failure = text[text.index("_ test_leaks_too_much _") : text.index("_ test_takes_much _")]
    assert "leaked 586 KiB, limit_leaks is 1.00 KiB" in failure
    assert "586 KiB in 1 block of heap" in failure and "lose  test_memory.py:14" in failure


def test_a_peak_over_its_limit_names_its_line(measured):
    text = measured[0].stdout.decode()
    assert "peak of 3.0" in text and "limit_memory is 1.00 MiB" in text
    assert "3.00 MiB of it: test_takes_much  test_memory.py:46" in text


def test_leaking_tests_are_listed(measured):
    """Also those without a limit; not those that only keep."""
    text = measured[0].stdout.decode()
    summary = text[text.index("== heaptide ==") :]
    leaking = [line.split(" leaked ") for line in summary.splitlines() if " leaked " in line and "::" in line]
    tests = [test.split("::")[1] for test, _ in leaking[:3]]
    assert tests == ["test_leaks_too_much", "test_leaks", "test_leaks_little"]
    assert [size for _, size in leaking[:3]] == ["586 KiB", "488 KiB", "391 KiB"]


def test_output_and_crashes_are_told(measured):
    text = measured[0].stdout.decode()
    assert "said before" in text and "the test's process ended by SIGKILL" in text


def test_the_reports_stay(measured, project):
    leaked = [report["summary"]["leaked_direct_bytes"] for report in heaptide_run.read_reports(project / "reports")]
    assert {500_000, 600_000, 400_000} <= set(leaked)


def test_under_heaptide_run_and_xdist(project):
    """Started by hand, with two workers, each of which forks its tests."""
    before = [heaptide_run.COMMAND, "run", "-q", "--py", "--out", project / "by-hand", "--"]
    done, results = run_pytest(project, "-p", "xdist", "-n", "2", "--heaptide", "-k", "much or little", before=before)
    wanted = {name: outcome for name, outcome in OUTCOMES.items() if "much" in name or "little" in name}
    assert outcomes(results) == wanted and done.status == 1, done.describe()
    text = done.stdout.decode()
    assert "test_leaks_too_much leaked 586 KiB" in text and "4 tests measured, 2 leaked" in text


@pytest.mark.parametrize(("limit", "fails"), [(1 << 20, True), (None, False)])
def test_leaks_that_are_not_known_are_not_called_none(limit, fails):
    summary = {"leaked_direct_bytes": None, "leaked_indirect_bytes": None, "peak_bytes": 5}
    report = {"summary": summary, "notes": ["Why."]}
    problem = pytest_plugin.limit_problem(report, {"limit_leaks": limit, "limit_memory": None})
    assert problem == ("heaptide: the leaks of the test's process are not known; Why." if fails else "")


def test_without_the_option_limits_are_markers(project):
    done, results = run_pytest(project, "--deselect", "test_memory.py::test_crashes")
    wanted = {name: "passed" for name in OUTCOMES if name != "test_crashes"}
    assert outcomes(results) == wanted | {"test_fails": "failed", "test_is_skipped": "skipped"}
    assert b"heaptide ==" not in done.stdout


def test_a_bad_size_is_said(tmp_path):
    (tmp_path / "test_bad.py").write_text("import pytest\n@pytest.mark.limit_leaks('many')\ndef test_it(): pass\n")
    done, _ = run_pytest(tmp_path, "--heaptide")
    assert done.status == 4 and "'many' is no size" in done.stdout.decode() + done.stderr, done.describe()


@pytest.mark.parametrize(
    ("size", "count"),
    [(0, 0), (1500, 1500), ("1 KiB", 1024), ("24MB", 24_000_000), ("1.5 mib", 1_572_864), ("2 GiB", 2 << 30)],
)
def test_sizes(size, count):
    assert pytest_plugin.size_bytes(size) == count


@pytest.mark.parametrize("size", ["", "many", "1 XB", "-1", None, "1 KiB 2"])
def test_bad_sizes(size):
    with pytest.raises(pytest.UsageError, match="is no size"):
        pytest_plugin.size_bytes(size)


def test_without_heaptide_in_reach(tmp_path):
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "heaptide.pytest_plugin", "--heaptide"]
    if (path := os.path.join(os.path.dirname(sys.executable), "heaptide")) and os.path.exists(path):
        pytest.skip(f"heaptide is installed beside this Python: {path}")
    done = execute(command, cwd=tmp_path, env={**SOURCE, "PATH": "/usr/bin:/bin"})
    assert done.status == 4 and "heaptide is not in PATH" in done.stderr, done.describe()


def test_the_installed_plugin_needs_no_option_to_be_found(project):
    names = {point.name for point in importlib.metadata.entry_points(group="pytest11")}
    if "heaptide" not in names:
        pytest.skip("heaptide is not installed in this Python: make test does that")
    done = execute([sys.executable, "-m", "pytest", "--markers"], cwd=project)
    assert b"limit_leaks(size)" in done.stdout and b"limit_memory(size)" in done.stdout
