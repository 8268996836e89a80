"""The planted programs on Debian unstable's C library, which makes stacks, blocks and their headers in newer ways.

.ci/interpreters fetches it, for the CPython that comes with it.
"""

import pytest

import expectations
import heaptide_run
from python_versions import EXTRA
from test_planted import STATED

LIBRARIES = EXTRA / "3.14" / "root" / "usr" / "lib" / "x86_64-linux-gnu"
LOADER = LIBRARIES / "ld-linux-x86-64.so.2"


@pytest.mark.parametrize("source", STATED, ids=lambda path: path.name)
def test_planted(source, planted, out):
    if not LOADER.exists():
        pytest.skip("no newer C library here: .ci/interpreters fetches one")
    expectation = expectations.read(source)
    program = planted(source.name, flags=[f"-Wl,--dynamic-linker={LOADER}", f"-Wl,-rpath,{LIBRARIES}"])
    run = heaptide_run.beside([program], out=out)
    assert run.status == expectation.status, run.describe()
    (main,) = [report for report in run.reports(*heaptide_run.EVERY_ROW) if report["main"]]
    wrong = expectations.problems(expectation, main)
    assert not wrong, f"{source.name}:\n" + "\n".join(wrong)
