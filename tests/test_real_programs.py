"""Programs written by nobody here: output and exit status as bare, and a report that makes sense."""

import filecmp
import importlib.util
import re
import shutil
import sys
from pathlib import Path

import pytest

import real_inputs
from expectations import tagged_lines
from heaptide_run import EVERY_ROW, beside, execute
from program_build import clang_suffix
from report_schema import schema_problems, total_problems

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]
MIB = 1 << 20
ROWS = 1000  # of each list: with all of PyTorch's sites a report is gigabytes


def sensible_reports(run, *, main, children=(), least_bytes=MIB):
    """Every report of the run is by the schema and adds up; the main program and these children are there; the main
    process, or the largest of its family, used a memory that fits what it does."""
    reports = run.reports("--top", str(ROWS))
    for report in reports:
        assert schema_problems(report) + total_problems(report, top=ROWS) == [], report["argv"]
    names = [Path(report["exe"]).name for report in reports]
    mains = [Path(report["exe"]).name for report in reports if report["main"]]
    assert main in mains, names
    for child in children:
        assert child in names, names
    assert len({(report["pid"], report["exe"], report["started"]) for report in reports}) == len(reports)
    assert max(report["summary"]["peak_bytes"] for report in reports) >= least_bytes
    return reports


def needs(program):
    found = shutil.which(program)
    if not found:
        pytest.skip(f"{program} is not installed here")
    return found


def real_name(program):
    """The base name of the file behind links, as a report's exe shows it."""
    return Path(needs(program)).resolve().name


def test_gcc_on_a_large_file(tmp_path, out):
    real_inputs.large_c_file(tmp_path / "large.c")
    command = ["gcc", "-O2", "-w", "-c", "large.c", "-o", "large.o"]
    bare = execute(command, cwd=tmp_path, timeout=120)
    shutil.move(tmp_path / "large.o", tmp_path / "bare.o")
    run = beside(command, out=out, cwd=tmp_path, bare=bare)
    assert run.status == 0 and run.program_stderr == []
    assert filecmp.cmp(tmp_path / "large.o", tmp_path / "bare.o", shallow=False)
    sensible_reports(run, main=real_name("gcc"), children=["cc1"], least_bytes=20 * MIB)


def test_python_json_tool_on_50_mebibytes(tmp_path, out):
    real_inputs.large_json_file(tmp_path / "large.json")
    command = ["/usr/bin/python3", "-m", "json.tool", "large.json"]
    bare = execute([*command, "bare.json"], cwd=tmp_path, timeout=200)
    run = beside([*command, "traced.json"], out=out, cwd=tmp_path, bare=bare)
    assert run.status == 0 and run.program_stderr == []
    assert filecmp.cmp(tmp_path / "bare.json", tmp_path / "traced.json", shallow=False)
    sensible_reports(run, main=Path("/usr/bin/python3").resolve().name, least_bytes=50 * MIB)


def test_git_log(tmp_path, out):
    real_inputs.git_repository(tmp_path / "repository")
    run = beside([needs("git"), "--no-pager", "log", "--stat"], out=out, cwd=tmp_path / "repository")
    assert run.status == 0 and run.stdout.count(b"\ncommit ") == 199
    sensible_reports(run, main="git", least_bytes=100_000)


def test_sqlite_builds_an_index(tmp_path, out):
    (tmp_path / "script.sql").write_text(real_inputs.SQL_SCRIPT)
    run = beside([needs("sqlite3"), ":memory:", ".read script.sql"], out=out, cwd=tmp_path)
    assert run.status == 0 and b"word-" in run.stdout
    sensible_reports(run, main="sqlite3", least_bytes=10 * MIB)


def test_clang_on_a_header_heavy_file(tmp_path, out):
    (tmp_path / "heavy.cpp").write_text(real_inputs.HEAVY_CPP)
    command = [needs(f"clang++{clang_suffix()}"), "-std=c++17", "-O1", "-c", "heavy.cpp", "-o", "heavy.o"]
    bare = execute(command, cwd=tmp_path, timeout=120)
    shutil.move(tmp_path / "heavy.o", tmp_path / "bare.o")
    run = beside(command, out=out, cwd=tmp_path, bare=bare)
    assert run.status == 0 and run.program_stderr == []
    assert filecmp.cmp(tmp_path / "heavy.o", tmp_path / "bare.o", shallow=False)
    sensible_reports(run, main=real_name(f"clang++{clang_suffix()}"), least_bytes=20 * MIB)


def test_make_of_a_small_project(tmp_path, out):
    project = tmp_path / "project"
    real_inputs.make_project(project)
    execute(["make", "-j2"], cwd=project, timeout=120)
    bare = execute(["./program"], cwd=project)
    shutil.move(project / "program", tmp_path / "bare")
    execute(["make", "clean"], cwd=project)
    script = "make -s clean && make -s -j2"
    run = beside(["/bin/sh", "-c", script], out=out, cwd=project, timeout=120)
    assert run.status == 0 and run.program_stderr == []
    assert filecmp.cmp(project / "program", tmp_path / "bare", shallow=False)
    assert execute(["./program"], cwd=project).stdout == bare.stdout
    reports = sensible_reports(run, main="dash", children=["make", "cc1", real_name("as"), "collect2"])
    compilers = [report for report in reports if Path(report["exe"]).name == "cc1"]
    assert len(compilers) == 11, "one for each source file"


def test_make_fails_as_bare(tmp_path, out):
    project = tmp_path / "project"
    real_inputs.make_project(project, files=2)
    (project / "part1.c").write_text("this is no C\n")
    run = beside(["make", "-s"], out=out, cwd=project)
    assert run.status == 2


def test_pytest_of_a_package(tmp_path, out):
    """toolz carries its tests in its wheel."""
    if not importlib.util.find_spec("toolz"):
        pytest.skip("toolz is not installed: pip install -r tests/requirements.txt")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--pyargs", "toolz"]
    quiet = {"PYTEST_ADDOPTS": "", "PYTEST_CURRENT_TEST": None, "PYTEST_XDIST_WORKER": None}
    run = beside(command, out=out, options=["--py"], cwd=tmp_path, env=quiet, timeout=120, alike=timeless)
    reports = sensible_reports(run, main=Path(sys.executable).resolve().name)
    files = {Path(row["site"]["file"] or "?").name for report in reports for row in report["python"]}
    assert "itertoolz.py" in files or "functoolz.py" in files, sorted(files)


def timeless(output):
    """What pytest or unittest printed, without how long it took."""
    return re.sub(rb"in [\d.]+s", b"", output)


def test_suite_of_django(tmp_path, out):
    """Four thousand tests of Django's own, with SQLite: the same that pass, fail and are skipped as bare, and every
    block of 20 million in some row of the report."""
    folder = real_inputs.django_source(tmp_path)
    command = [sys.executable, "runtests.py", "--parallel=1", *real_inputs.DJANGO_SUITES]
    how = {"cwd": folder / "tests", "env": {"PYTHONPATH": folder, "PYTHONHASHSEED": "0"}, "timeout": 400}
    bare = execute(command, **how)
    assert re.search(r"Ran \d{4} tests", bare.stderr), bare.describe()
    run = beside(command, out=out, options=["--py"], bare=bare, **how)
    assert verdicts(run.stderr) == verdicts(bare.stderr)
    report = run.report(*EVERY_ROW)
    assert schema_problems(report) + total_problems(report) == []
    summary, kinds = report["summary"], report["summary"]["by_kind"]
    for kind in ("python", "heap"):
        rows = [row for row in report["hotspots"] if row["kind"] == kind]
        for figure in ("allocations", "allocated_bytes"):
            assert sum(row[figure] for row in rows) == kinds[kind][figure]
    assert sum(row["live_bytes"] for row in report["python"]) == kinds["python"]["live_bytes"] > 30 * MIB
    assert sum(row["bytes"] for row in report["peak"]) == summary["peak_bytes"]
    assert sum(row["temporaries"] for row in report["temporaries"]) == summary["temporaries"]


def verdicts(stderr):
    """unittest's row of dots and letters, the tests that failed, and its last words."""
    lines = re.findall(r"^(?:[.sFExu]+|(?:FAIL|ERROR): .*|Ran \d+ tests|OK.*|FAILED .*)", stderr, re.MULTILINE)
    assert len(lines) >= 3, stderr
    return lines


def bytes_at_peak(reports, script, line):
    """What a line of Python held at the peak: objects and, as kind heap, the buffers that extensions made for it."""
    return sum(
        row["bytes"]
        for report in reports
        for row in report["peak"]
        if Path(row["site"]["file"] or "?").name == script and row["site"]["line"] == line
    )


def python_bytes(reports, script, line):
    """Live bytes of the Python sites at a line, of all kinds of allocation."""
    return sum(
        row["live_bytes"]
        for report in reports
        for row in report["python"]
        if Path(row["site"]["file"] or "?").name == script and row["site"]["line"] == line
    )


@pytest.mark.parametrize("options", [[], ["--py"]], ids=["native", "py"])
def test_numpy_script(options, tmp_path, out):
    (tmp_path / "matrix.py").write_text(real_inputs.NUMPY_SCRIPT)
    run = beside([sys.executable, "matrix.py"], out=out, options=options, cwd=tmp_path, timeout=120)
    assert run.status == 0 and run.program_stderr == []
    reports = sensible_reports(run, main=Path(sys.executable).resolve().name, least_bytes=16 * MIB)
    if options:
        lines = tagged_lines(real_inputs.NUMPY_SCRIPT)
        assert bytes_at_peak(reports, "matrix.py", lines["@table"]) >= 8_000_000
        assert bytes_at_peak(reports, "matrix.py", lines["@rows"]) >= 8_000_000


@pytest.mark.parametrize("options", [[], ["--py"]], ids=["native", "py"])
def test_torch_training(options, tmp_path, out):
    if not importlib.util.find_spec("torch"):
        pytest.skip("torch is not installed: tests/requirements.txt has it for the Pythons it exists for")
    (tmp_path / "train.py").write_text(real_inputs.TORCH_SCRIPT)
    run = beside([sys.executable, "train.py"], out=out, options=options, cwd=tmp_path, timeout=200)
    assert run.status == 0 and run.stdout.endswith(b" 50\n")
    reports = sensible_reports(run, main=Path(sys.executable).resolve().name, least_bytes=5_000_000)
    if options:
        lines = tagged_lines(real_inputs.TORCH_SCRIPT)
        kept = python_bytes(reports, "train.py", lines["@kept"])
        assert 5_000_000 <= kept < 5_100_000, kept
