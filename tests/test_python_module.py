"""`import heaptide` inside a program: reports of now, and nothing at all where nothing is recorded."""

import sys
from pathlib import Path

import pytest

from heaptide_run import EVERY_ROW, execute, read_reports, traced
from program_build import REPOSITORY
from python_versions import PYTHONS

MODULE = {"PYTHONPATH": REPOSITORY / "pyhooks"}
SCRIPT = """\
import heaptide
keep = [bytes(50_000) for _ in range(20)]
print(heaptide.enabled(), heaptide.snapshot("before"))
keep += [bytes(60_000) for _ in range(20)]
try: heaptide.snapshot("a/b")
except ValueError: print("refused")
"""


def script_lines(report):
    """Those that hold a megabyte; what is imported may be as much."""
    rows = [row for row in report["python"] if row["live_bytes"] >= 1_000_000]
    sites = [row["site"] for row in rows if row["stack"][0]["function"] != "[import]"]
    return sorted({site["line"] for site in sites if (site["file"] or "").endswith("script.py")})


@pytest.mark.parametrize("options", [[], ["--py"]], ids=["native", "py"])
@pytest.mark.parametrize("python", PYTHONS.values(), ids=PYTHONS)
def test_snapshot_from_inside(python, options, tmp_path, out):
    (tmp_path / "script.py").write_text(SCRIPT)
    run = traced([python, "script.py"], out=out, options=options, cwd=tmp_path, env=MODULE)
    assert (run.status, run.stdout) == (0, b"True True\nrefused\n"), run.describe()
    before, after = read_reports(Path(out) / "before", *EVERY_ROW)[-1], run.report(*EVERY_ROW)
    assert (before["label"], before["reason"], after["label"]) == ("before", "snapshot", None)
    if options:
        assert [script_lines(report) for report in (before, after)] == [[2], [2, 4]]


def test_outside_it_does_nothing(tmp_path):
    script = "import heaptide; print(heaptide.enabled(), heaptide.snapshot('x'))"
    run = execute([sys.executable, "-c", script], env=MODULE)
    assert (run.status, run.stdout) == (0, b"False False\n"), run.describe()
