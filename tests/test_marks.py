"""Points in time that a program gives names to, and calls over time: marks/ holds the program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import program_build
from heaptide_run import EVERY_ROW, beside, command, execute, read_reports, traced
from program_build import REPOSITORY, TESTS
from python_versions import PYTHONS
from report_files import Report
from report_schema import diff_problems, schema_problems, total_problems

HEADER = ("-I", str(REPOSITORY / "include"))
# As a program is linked by default, at fixed addresses, and without anybody to resolve names later.
LINKING = {"pie": ("-fPIE", "-pie"), "fixed": ("-O2", "-fno-builtin", "-fno-pie", "-no-pie"), "static": ("-static",)}


@pytest.fixture
def program():
    return lambda *flags, **how: program_build.build(TESTS / "marks" / "marks.c", flags=(*HEADER, *flags), **how)


def marks_of(report):
    return [(mark["name"], mark["live_bytes"]) for mark in report["marks"]]


STEPS = [("start", 0), *(("step", 1000 + 4096 * i) for i in range(5)), ("end", 1000 + 4096 * 5)]


@pytest.mark.parametrize("family", ["gcc", "clang"])
@pytest.mark.parametrize("linking", ["pie", "fixed"])
def test_marks_stand_between_the_allocations(linking, family, program, out):
    run = beside([program(*LINKING[linking], family=family), "iterations"], out=out)
    report = run.report(*EVERY_ROW)
    assert schema_problems(report) == [] and total_problems(report) == []
    assert marks_of(report) == STEPS
    seconds = [mark["seconds"] for mark in report["marks"]]
    assert seconds == sorted(seconds) and seconds[-1] <= report["seconds"]


def test_without_a_recorder_nothing_happens(program):
    for flags in LINKING.values():
        assert execute([program(*flags), "snapshots"]).stdout == b"-1 -1\n"


def test_table_tells_the_growth_of_an_iteration(program, out):
    traced([program(), "iterations"], out=out)
    lines = command("report", out).stdout.decode().splitlines()
    table = lines[lines.index("MARKS") + 1 :][:4]
    assert [line.split()[-1] for line in table] == ["name", "start", "step", "end"]
    assert "+4.00 KiB" in table[2] and "1000 B" in table[2] and "17.0 KiB" in table[2] and table[2].split()[0] == "5"
    assert "KiB  start" not in table[1], "a name that came once has no growth"
    cut = command("report", out, "--top", "1").stdout.decode()
    assert "  start\n  ... 2 more names (--top)" in cut


def test_calls_over_time(program, out):
    report = traced([program(), "calls"], out=out, options=["--every", "20"]).report(*EVERY_ROW)
    assert total_problems(report) == []
    timeline, times = report["timeline"], [mark["seconds"] for mark in report["marks"]]
    for begin, end, allocations, temporaries in ((*times[:2], 100, 0), (*times[2:], 600, 300)):
        inside = [i for i, at in enumerate(timeline["seconds"]) if begin < at < end]
        assert len(inside) >= 3
        for i in inside:
            assert sum(timeline["allocations"][: i + 1]) == allocations
            assert sum(timeline["temporaries"][: i + 1]) == temporaries
    assert (report["summary"]["allocations"], report["summary"]["temporaries"]) == (650, 350)


def test_a_forked_child_has_marks_of_its_own(program, out):
    reports = {report["main"]: report for report in traced([program(), "forked"], out=out).reports()}
    assert marks_of(reports[True]) == [("parent", 1000), ("parent", 1000)]
    assert marks_of(reports[False]) == [("child", 4096)]
    assert sum(reports[False]["timeline"]["allocations"]) == 1


def test_marks_of_a_snapshot_and_of_the_end(program, out):
    run = traced([program(), "snapshots"], out=out)
    assert run.stdout == b"0 22\n"
    assert marks_of(read_reports(out / "middle")[0]) == STEPS
    assert marks_of(run.report()) == [*STEPS, ("after", STEPS[-1][1])]


def test_marks_of_a_process_that_was_killed(program, out):
    run = traced([program(), "killed"], out=out)
    report = run.report()
    assert report["reason"] == "killed" and marks_of(report) == STEPS
    assert sum(report["timeline"]["allocations"]) == report["summary"]["allocations"]


def test_more_marks_than_are_kept(program, out):
    report = traced([program(), "many"], out=out).report()
    assert marks_of(report) == [("often", 0)] * 16384
    assert "4639 marks are counted by name only: the first 16384 are kept one by one" in report["notes"]
    assert any(note.startswith("77 marks were left out") for note in report["notes"]), report["notes"]
    text = command("report", out, "--top", "2000").stdout.decode()
    assert "      20,000 " in text and text.count("\n           1 ") >= 1023


def test_names_that_are_no_words(program, out):
    report = traced([program(), "names"], out=out).report()
    assert [name for name, _ in marks_of(report)] == ["", '� "quoted" \x1b[31m <b>', "x" * 127, "x" * 127, ""]
    assert b"\x1b[31m" not in command("report", out).stdout
    trace = command("export", out, "--format", "chrome", "-o", "-").stdout
    assert [event["name"] for event in json.loads(trace)["traceEvents"] if event["ph"] == "i"][2:4] == ["x" * 127] * 2


def test_diff_tells_the_growth_of_both(tmp_path):
    """`same` and `once` in both, `more` grows, `gone` and `new` are in one of them."""
    rounds = {"base": {"same": 1000, "more": 1000, "gone": 512, "once": 0},
              "new": {"same": 1000, "more": 5096, "once": 0, "new": -300}}  # fmt: skip
    for side, names in rounds.items():
        report = Report()
        for round in range(3):
            for name, each in names.items():
                if round == 0 or name != "once":
                    report.mark(name, 10**6 * (round + 1), 9000 + each * round)
        (tmp_path / side).mkdir()
        (tmp_path / side / "heaptide.1.bin").write_bytes(report.data())
    done = command("diff", tmp_path / "base", tmp_path / "new", "--json")
    pair = json.loads(done.stdout)
    assert done.status == 0 and diff_problems(pair) == []
    growth = [[mark[side] and mark[side]["growth_bytes"] for side in rounds] for mark in pair["marks"]]
    assert [(mark["name"], *both) for mark, both in zip(pair["marks"], growth)] == [
        ("same", 1000, 1000), ("more", 1000, 5096), ("new", None, -300), ("gone", 512, None)
    ]  # fmt: skip
    text = command("diff", tmp_path / "base", tmp_path / "new").stdout.decode()
    table = [line.split() for line in text[text.index("MARKS") :].splitlines()[1:5]]
    assert table[1] == ["+1000", "B", "+4.98", "KiB", "+4.00", "KiB", "more"]
    assert table[2] == ["-", "-300", "B", "new"] and table[3] == ["+512", "B", "-", "gone"]


# ---- Python

MODULE = {"PYTHONPATH": str(REPOSITORY / "pyhooks")}
# Blocks above 512 bytes come from malloc; 33 bytes are a bytes object's own.
MARKING = """\
import heaptide
keep = []
for step in range(4):
    heaptide.mark("step")
    keep.append(bytes(1_000_000 - 33))
heaptide.mark("end \\udcff")
"""


@pytest.mark.parametrize("options", [[], ["--py"]], ids=["native", "py"])
def test_marks_from_python(options, tmp_path, out):
    (tmp_path / "script.py").write_text(MARKING)
    run = traced([sys.executable, "script.py"], out=out, options=options, cwd=tmp_path, env=MODULE)
    marks = marks_of(run.report())
    assert run.status == 0 and [name for name, _ in marks] == ["step"] * 4 + ["end �"], run.describe()
    for (_, before), (_, after) in zip(marks, marks[1:]):
        assert abs(after - before - 1_000_000) < 20_000


def test_marks_in_a_process_that_was_attached_to(tmp_path):
    """It was not recorded when it made its first mark."""
    script = "import heaptide\nheaptide.mark('too early')\nprint('ready', flush=True)\ninput()\n"
    script += "heaptide._recorder.own.look_again = 0\n"  # else some seconds later
    script += "heaptide.mark('now')\nprint(heaptide.enabled(), flush=True)\ninput()\n"
    script += "heaptide.mark('too late')\nprint(heaptide.enabled())\n"
    out = tmp_path / "out"
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=pipe, stdout=pipe, env={**os.environ, **MODULE}, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        assert command("attach", process.pid, "--out", out).status == 0
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "True\n"
        assert command("detach", out).status == 0
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.read() == "False\n" and process.wait(20) == 0
    assert [mark["name"] for mark in read_reports(out)[0]["marks"]] == ["now"]


TRACKING = """\
import heaptide, sys
before = bytearray(3_000_000)
for round in range(3):
    with heaptide.track(out=f"out {round}%") as folder:
        print(folder == f"{sys.argv[1]}/out {round}%", heaptide.enabled())
        inside = bytearray(2_000_000)
        heaptide.mark("inside")
        with heaptide.track(): pass
        del inside
    print(heaptide.enabled())
try:
    with heaptide.track(out="out 0%"): print("not reached")
except FileExistsError: print("refused")
print(heaptide.mark("after"), heaptide.snapshot())
"""


def test_track_records_a_block(tmp_path):
    """In a program of its own, again and again."""
    (tmp_path / "script.py").write_text(TRACKING)
    run = execute([sys.executable, "script.py", tmp_path], cwd=tmp_path, env=MODULE)
    assert run.stdout == b"True True\nFalse\n" * 3 + b"refused\nNone False\n", run.describe()
    assert run.status == 0 and run.stderr == ""
    for number in range(3):
        folder = tmp_path / f"out {number}%"
        (report,) = read_reports(folder)
        assert (report["reason"], report["attached"], report["main"]) == ("detach", True, True)
        assert 2_000_000 <= report["summary"]["peak_bytes"] < 2_500_000
        (inside, begins, ends) = report["marks"]
        assert 2_000_000 <= inside["live_bytes"] < 2_500_000
        assert (inside["name"], begins["name"], ends["name"]) == ("inside", "track begins", "track ends")
        (inner,) = read_reports(folder / "track")
        assert inner["reason"] == "snapshot" and inner["summary"]["live_bytes"] >= 2_000_000


def test_track_below_run_marks_and_takes_a_snapshot(tmp_path, out):
    script = "import heaptide\nwith heaptide.track('part') as folder: keep = bytearray(2_000_000)\nprint(folder)\n"
    run = traced([sys.executable, "-c", script], out=out, cwd=tmp_path, env=MODULE)
    assert (run.status, run.stdout) == (0, b"None\n"), run.describe()
    assert not (tmp_path / "part").exists()
    begins, ends = run.report()["marks"]
    assert (begins["name"], ends["name"]) == ("part begins", "part ends")
    assert 2_000_000 <= ends["live_bytes"] - begins["live_bytes"] < 2_100_000
    assert [mark["name"] for mark in read_reports(out / "part")[0]["marks"]] == ["part begins", "part ends"]


def test_track_that_cannot_begin(tmp_path):
    """The block does not run, and the program is told why."""
    (tmp_path / "file").write_text("")
    script = "import heaptide\ntry:\n    with heaptide.track('file/below'): print('not reached')\n"
    script += "except NotADirectoryError: print('refused')\n"
    assert execute([sys.executable, "-c", script], cwd=tmp_path, env=MODULE).stdout == b"refused\n"
    copy = tmp_path / "alone" / "heaptide"
    copy.mkdir(parents=True)
    for file in Path(MODULE["PYTHONPATH"], "heaptide").glob("*.py"):
        (copy / file.name).write_text(file.read_text())
    script = script.replace("file/below", "new").replace("NotADirectoryError", "FileNotFoundError")
    script = "import sys\nsys.prefix = '/nowhere'\n" + script  # heaptide may be installed beside this Python
    run = execute([sys.executable, "-c", script], cwd=tmp_path, env={"PYTHONPATH": copy.parent, "PATH": "/nowhere"})
    assert run.stdout == b"refused\n", run.describe()


def test_track_in_a_child_that_is_left_out(tmp_path, out):
    """A forked one has the recorder's hooks, which record nothing; one that was executed has nothing of it."""
    block = "import heaptide\ntry:\n    with heaptide.track(out=place): pass\n"
    block += "    print('recorded', flush=True)\nexcept OSError as error: print('leaves' in str(error), flush=True)\n"
    script = f"import os, subprocess, sys\nblock = {block!r}\n"
    script += "subprocess.run([sys.executable, '-c', 'place = \\'executed\\'\\n' + block])\n"
    script += "place = 'forked'\nif os.fork() == 0:\n    exec(block)\n    os._exit(0)\n"
    script += "print(os.wait()[1])\n"
    run = traced([sys.executable, "-c", script], out=out, options=["--no-children"], cwd=tmp_path, env=MODULE)
    assert (run.status, run.stdout) == (0, b"recorded\nTrue\n0\n"), run.describe()
    assert len(read_reports(tmp_path / "executed")) == 1
    assert not (tmp_path / "forked").exists()


BUSY = """\
import heaptide, threading
go_on = True
def work():
    while go_on:
        keep = [bytearray(1000 + size) for size in range(100)]
        heaptide.mark("round")
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
for thread in threads: thread.start()
for number in range(4):
    with heaptide.track(out=f"out{number}"):
        for _ in range(20): keep = bytearray(4_000_000)
go_on = False
for thread in threads: thread.join()
print("done")
"""


@pytest.mark.parametrize("version", PYTHONS)
def test_track_beside_busy_threads(version, tmp_path):
    run = execute([PYTHONS[version], "-c", BUSY], cwd=tmp_path, env=MODULE, timeout=120)
    assert (run.status, run.stdout) == (0, b"done\n"), run.describe()
    for number in range(4):
        (report,) = read_reports(tmp_path / f"out{number}", *EVERY_ROW)
        assert total_problems(report) == [] and report["summary"]["peak_bytes"] >= 4_000_000
