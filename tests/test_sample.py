"""`heaptide run --sample BYTES`: estimates from a part of the heap's blocks. cases/sampled.c makes them.

A block of a size stands for k blocks, and one in k is recorded: of n blocks sqrt(n (k - 1)) is the standard deviation
of their estimate. Five of them are allowed, which chance exceeds once in two million.
"""

import math
import re
import subprocess
import sys
from collections import Counter, defaultdict

import pytest

import expectations
import program_build
from conftest import CASES
from heaptide_run import EVERY_ROW, beside, command, traced
from report_schema import schema_problems, total_problems
from test_planted import STATED

HEADER_BYTES = 16
DEVIATIONS = 5
# What cases/sampled.c does, by function: blocks, their size.
MADE = {
    "keep": (100000, 100),
    "lose": (100000, 200),
    "be_brief": (500000, 50),
    "make": (100000, 500),
    "begin": (100000, 60),
    "grow": (100000, 3000),
    "lose_large": (50, 1 << 20),
    "node_make": (50000, 40),
    "hand": (200000, 300),
}
LIVE = {"keep", "lose", "lose_large", "node_make"}
PYTHON = """
import sys
keep = [bytearray(100) for _ in range(3000)]
for _ in range(5000):
    bytes(700)
"""


def stands_for(size, sample):
    share = (size + HEADER_BYTES) / sample
    return 1 if share >= 1 else math.ceil(1 / -math.expm1(-share))


def assert_estimates(found, blocks, size, sample):
    copies = stands_for(size, sample)
    allowed = DEVIATIONS * math.sqrt(blocks * (copies - 1))
    assert abs(found - blocks) <= allowed, f"{found} for {blocks} blocks of {size}; {copies} each, {allowed:.0f} off"


def by_function(report, section):
    """The heap's rows of one function, which may be called on many ways, added up."""
    found = defaultdict(Counter)
    for row in report[section]:
        if row["kind"] == "heap":
            found[row["site"]["function"]].update({key: value for key, value in row.items() if isinstance(value, int)})
    return found


@pytest.fixture(scope="module", params=[1000, 20000])
def sampled(request, tmp_path_factory):
    """A sample's BYTES, and the report of sampled.c."""
    program = program_build.build(CASES / "sampled.c", flags=("-O1", "-pthread"))
    run = beside([program], out=tmp_path_factory.mktemp("sampled") / "out", options=["--sample", str(request.param)])
    return request.param, run.report(*EVERY_ROW), run.out


def test_calls_and_bytes_are_estimated(sampled):
    sample, report, _ = sampled
    rows = by_function(report, "hotspots")
    for function, (blocks, size) in MADE.items():
        assert_estimates(rows[function]["allocations"], blocks, size, sample)
        assert rows[function]["allocated_bytes"] == rows[function]["allocations"] * size, function


def test_the_report_adds_up(sampled):
    _, report, _ = sampled
    assert report["estimated"] is True
    assert not schema_problems(report) and not total_problems(report)


def test_a_free_takes_away_what_its_allocation_added(sampled):
    """Nothing stays behind of what was freed, by whichever thread."""
    _, _, out = sampled
    folded = command("report", out, "--folded", "live", "--fail-on", "none").stdout.decode()
    live = {line.rsplit(" ", 1)[0].rsplit(";", 1)[1] for line in folded.splitlines()}
    assert live & MADE.keys() == LIVE


def test_temporaries_are_estimated(sampled):
    _, report, _ = sampled
    calls, temporaries = by_function(report, "hotspots"), by_function(report, "temporaries")
    assert temporaries["be_brief"]["temporaries"] == calls["be_brief"]["allocations"]
    assert not temporaries.keys() & {"keep", "make", "begin", "hand"}, "other calls lie between"


def test_leaks_are_estimated(sampled):
    sample, report, _ = sampled
    leaks = by_function(report, "leaks")
    assert leaks.keys() == {"lose", "lose_large"}, "the tree is held, though most of its nodes were not recorded"
    assert leaks["lose_large"]["blocks"] == 50, "blocks of BYTES and more are all recorded"
    assert_estimates(leaks["lose"]["blocks"], *MADE["lose"], sample)


def test_the_report_says_so(sampled):
    _, report, out = sampled
    assert any("sampled" in note for note in report["notes"]), report["notes"]
    head = command("report", out, "--fail-on", "none").stdout.decode().splitlines()[0]
    assert "estimated from a sample" in head


def test_the_closing_line_and_a_diff_say_so(planted, tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        run = traced([planted("two_leaks.c")], out=folder, options=["--sample", "100"])
        assert ", estimated from a sample -> " in run.own_stderr[-1], run.describe()
    text = command("diff", *folders, "--fail-on", "none").stdout.decode()
    assert "Both were recorded with --sample: figures are estimates." in text
    run = traced([planted("two_leaks.c")], out=tmp_path / "exact")
    assert "estimated" not in run.own_stderr[-1]


# Programs whose blocks point to each other, or that leak nothing at all.
LINKED = [path for path in STATED if re.search(r"^// expect (none|.*indirect)", path.read_text(), re.MULTILINE)]


@pytest.mark.parametrize("source", LINKED, ids=lambda path: path.name)
def test_no_leak_is_made_up(source, planted, out):
    """Small blocks are recorded now and then: what they point to and what points to them is mostly unknown."""
    expectation = expectations.read(source)
    run = traced([planted(source.name)], out=out, options=["--sample", "120"])
    assert run.status == expectation.status, run.describe()
    for report in run.reports(*EVERY_ROW):
        assert not schema_problems(report) + total_problems(report)
        stated = expectation.leaks if report["main"] else expectation.child_leaks
        lines = {line for line, _ in stated}
        found = {row["site"]["line"] for row in report["leaks"] if row["site"]["file"] == str(source)}
        assert found <= lines, "a leak where none is"


def test_blocks_side_by_side(case, out, tmp_path):
    """With an allocator that puts nothing between two blocks, what lies between two recorded ones may be one."""
    library = tmp_path / "packed_malloc.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", CASES / "packed_malloc.c", "-o", library], check=True)
    environment = {"LD_PRELOAD": str(library)}
    report = traced([case("packed_list.c")], out=out, options=["--sample", "100"], env=environment).report(*EVERY_ROW)
    rows = by_function(report, "hotspots")
    assert_estimates(rows["main"]["allocations"], 20000, 16, 100)
    assert report["leaks"] == []


def test_python_objects_are_all_recorded(out, tmp_path):
    """With --py the sample is of native blocks only."""
    script = tmp_path / "objects.py"
    script.write_text(PYTHON)
    rows = []
    for name, options in (("exact", []), ("sampled", ["--sample", "100000"])):
        run = traced([sys.executable, script], out=out / name, options=["--py", *options])
        report = run.report(*EVERY_ROW)
        assert not total_problems(report)
        rows.append(own := [row for row in report["python"] if row["site"]["file"] == str(script)])
        assert sum(row["live_blocks"] for row in own if row["site"]["line"] == 3) >= 6000
    exact, sampled = ([(row["site"], row["live_blocks"], row["allocations"]) for row in one] for one in rows)
    assert exact == sampled


def test_larger_than_everything(planted, out):
    """Hardly anything is met: no figure, and no failure."""
    report = traced([planted("two_leaks.c")], out=out, options=["--sample", "4294967295"]).report(*EVERY_ROW)
    assert report["estimated"] is True and not total_problems(report)


@pytest.mark.parametrize("value", ["-1", "some", "1.5", "", "4294967296"])
def test_bad_value_is_refused(value, planted, out):
    run = command("run", "--sample", value, "--out", out, "--", planted("two_leaks.c"))
    assert run.status == 125 and run.stdout == b"" and not out.exists()
    assert re.fullmatch(r"heaptide: run: .*--sample; .*\n", run.stderr), run.stderr
