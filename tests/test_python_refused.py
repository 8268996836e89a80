"""Under --py what is no Python that heaptide knows: a sentence, native tracing goes on, output and status as bare."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import program_build
from expectations import tagged_lines
from heaptide_run import EVERY_ROW, beside
from python_versions import PYENV, PYTHONS
from report_schema import schema_problems, total_problems

PROGRAMS = Path(__file__).resolve().parent / "python"
FUNCTIONS = Path(__file__).resolve().parent.parent / "pyhooks" / "python_api.def"
LOST = 123_456
STATUS = 7

REFUSED = "not one that --py knows (CPython 3.9 to 3.14 with a GIL)"
MISSED = "--py found no CPython"
WITHOUT = "Recorded without --py"
SENTENCES = REFUSED, MISSED, WITHOUT, "not laid out as expected"


def sentences(report):
    """Those of --py among the notes."""
    return [sentence for note in report["notes"] for sentence in SENTENCES if sentence in note]


def stand_in(folder, name, *, version=None, functions=()):
    """A program called `name` that loses a block of LOST bytes and ends with STATUS; it offers CPython's `functions`,
    which nobody may call, and a Py_GetVersion that answers `version`."""
    source = folder / "stand_in.c"
    lines = ["#include <stdlib.h>", "char *volatile lost;"]
    if version:
        lines += [f'const char *Py_GetVersion(void) {{ return "{version}"; }}']
        lines += ["long PyCode_Type[64], _Py_NoneStruct[4];"]
    lines += [f"void {function}(void) {{ abort(); }}" for function in functions if function != "Py_GetVersion"]
    lines += [f"int main(void) {{ lost = malloc({LOST}); lost = 0; return {STATUS}; }}"]
    source.write_text("\n".join(lines) + "\n")
    program = folder / name
    shutil.copy(program_build.build(source, flags=["-rdynamic"]), program)
    return program


def known_functions():
    return re.findall(r"^PYTHON\(\w+, [^,]+, (\w+)", FUNCTIONS.read_text(), re.MULTILINE)


def refused_report(argv, out, **how):
    report = beside(argv, out=out, options=["--py"], **how).report(*EVERY_ROW)
    assert schema_problems(report) + total_problems(report) == []
    assert report["python"] == [] and report["summary"]["by_kind"]["heap"]["allocations"] > 0
    return report


def lost_bytes(report):
    """In a program called python3 what is lost without a line of Python is the interpreter's own, and suppressed."""
    return [row["direct_bytes"] for row in report["leaks"] if row["direct_bytes"] == LOST]


# An interpreter that was stripped whole offers no name, PyPy's are others: nobody can tell them from any program.
@pytest.mark.parametrize("name", ["pypy3", "python3", "program"])
def test_a_program_without_cpythons_functions(name, tmp_path, out):
    report = refused_report([stand_in(tmp_path, name)], out)
    assert sentences(report) == [MISSED] and lost_bytes(report) == [LOST]


REFUSED_VERSIONS = {
    "too_old": "3.8.18 (default, Jan  1 2024)",
    "too_new": "3.99.0 (main, Jan  1 2024)",
    "another": "2.7.18 (default, Jan  1 2024)",
    "free_threaded_3.13": "3.13.1 experimental free-threading build (main, Jan  1 2025)",
    "free_threaded_3.14": "3.14.0 free-threading build (main, Jan  1 2026)",
    "no_offsets": "3.14.0 (main, Jan  1 2026)",  # a build that publishes no layout of its structs
}


@pytest.mark.parametrize("kind", REFUSED_VERSIONS)
def test_a_cpython_of_another_kind(kind, tmp_path, out):
    """Everything is there by name, but for what this version is."""
    program = stand_in(tmp_path, "python3", version=REFUSED_VERSIONS[kind], functions=known_functions())
    report = refused_report([program], out)
    assert sentences(report) == [REFUSED] and lost_bytes(report) == [LOST]


def test_a_cpython_that_lacks_functions(tmp_path, out):
    functions = [name for name in known_functions() if name != "PyFrame_GetCode"]
    report = refused_report([stand_in(tmp_path, "python3", version="3.11.2 (main)", functions=functions)], out)
    assert sentences(report) == [REFUSED] and lost_bytes(report) == [LOST]


OLD = {name: path for name in ("3.6", "3.7", "3.8") for path in PYENV.glob(f"versions/{name}.*/bin/python3")}


@pytest.mark.parametrize("name", OLD)
def test_a_cpython_older_than_3_9(name, out):
    assert sentences(refused_report([OLD[name], "-c", "import sys; print(1); sys.exit(3)"], out)) == [REFUSED]


def test_pypy(tmp_path, out):
    pypy = shutil.which("pypy3")
    if not pypy:
        pytest.skip("pypy3 is not installed here: .ci/install test gets it")
    (tmp_path / "script.py").write_text("import sys; print(sys.implementation.name); sys.exit(3)\n")
    run = beside([pypy, "script.py"], out=out, options=["--py"], cwd=tmp_path)
    assert (run.status, run.stdout) == (3, b"pypy\n") and sentences(run.report()) == [MISSED]


def test_a_shell_around_a_python_is_no_failure(tmp_path, out):
    """Nothing is missed where a later program of the run is a Python."""
    script = tmp_path / "run"
    script.write_text(f"#!/bin/sh\n{next(iter(PYTHONS.values()))} -c pass\nexit {STATUS}\n")
    script.chmod(0o755)
    run = beside([script], out=out, options=["--py"])
    assert run.status == STATUS and [sentences(report) for report in run.reports()] == [[], []]


def test_without_py_a_python_says_so_and_a_program_does_not(tmp_path, out):
    python = beside([next(iter(PYTHONS.values())), "-c", "pass"], out=out).report()
    program = beside([stand_in(tmp_path, "program")], out=out.with_name("native")).report()
    assert (sentences(python), sentences(program)) == ([WITHOUT], [])


# ---- the proof of the frame reader


def offers_its_own(python):
    """Whether its functions can be put in front of: those of a shared libpython."""
    libraries = subprocess.run(["ldd", python], capture_output=True, text=True).stdout
    return "libpython" in libraries


SHARED = [name for name, path in PYTHONS.items() if offers_its_own(path)]

UNPROVED_SCRIPT = """\
import sys
keep = [None] * 100
def outer(size):
    for index in range(100):
        keep[index] = bytes(size)  # @kept
outer(1000)
print(len(keep))
sys.exit(3)
"""


@pytest.mark.parametrize("name", SHARED)
def test_a_frame_reader_that_fails_its_proof(name, tmp_path, out):
    """Lines then come from the interpreter's own functions, and they and their bytes are right. A wrong answer at the
    proof is the only way to make it fail: no CPython of a known version has another layout."""
    library = program_build.build(PROGRAMS / "wrong_line.c", flags=["-shared", "-fPIC"])
    (tmp_path / "script.py").write_text(UNPROVED_SCRIPT)
    argv, preload = [PYTHONS[name], "script.py"], {"LD_PRELOAD": library}
    run = beside(argv, out=out, options=["--py", "--py-depth", "4"], cwd=tmp_path, env=preload)
    report = run.report(*EVERY_ROW)
    assert run.status == 3 and schema_problems(report) + total_problems(report) == []
    assert sentences(report) == ["not laid out as expected"]
    line = tagged_lines(UNPROVED_SCRIPT)["@kept"]
    (row,) = [row for row in report["python"] if (row["site"]["function"], row["site"]["line"]) == ("outer", line)]
    assert row["live_bytes"] >= 100 * 1033 and row["live_blocks"] >= 100, row
    assert [frame["function"] for frame in row["stack"]] == ["outer"], "one line is kept then"
    assert report["summary"]["by_kind"]["heap"]["allocations"] > 0
