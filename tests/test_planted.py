"""Every program of planted/ that states its expectation, bare and traced."""

import pytest

import expectations
import heaptide_run
from conftest import PLANTED
from report_schema import schema_problems, total_problems

STATED = sorted(path for path in PLANTED.glob("*.c*") if "// expect " in path.read_text())


@pytest.mark.parametrize("source", STATED, ids=lambda path: path.name)
def test_planted(source, planted, out):
    expectation = expectations.read(source)
    program = planted(source.name)
    run = heaptide_run.beside([program], out=out)
    assert run.status == expectation.status, run.describe()
    reports = run.reports(*heaptide_run.EVERY_ROW)
    main = [report for report in reports if report["main"]]
    children = [report for report in reports if not report["main"]]
    assert len(main) == 1 and len(children) == expectation.has_child, [report["argv"] for report in reports]
    wrong = expectations.problems(expectation, main[0])
    for child in children:
        wrong += expectations.problems(expectation, child, leaks=expectation.child_leaks)
    for report in reports:
        wrong += schema_problems(report) + total_problems(report)
    assert not wrong, f"{source.name}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("source", STATED, ids=lambda path: path.name)
def test_planted_stays_silent(source, planted, out):
    """Nothing but the program's own words on its own streams, and the same from clang's code as from gcc's."""
    expectation = expectations.read(source)
    run = heaptide_run.beside([planted(source.name, family="clang")], out=out, options=["-q"])
    assert run.program_stderr == [] and run.stdout == b"", run.describe()
    assert run.status == expectation.status
