"""Ways out, each with exact leaks and with the wait status of the bare program, bit by bit; ends by the kernel; 2000
threads. life/ holds the programs."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import TESTS
from heaptide_run import COMMAND, beside, command, execute, read_reports, traced
from test_cases_start import leaked
from test_life import STATUS_PRINTER, life, running, wait_for  # noqa: F401 (a fixture)

WAYS = {  # way: reason, signal
    "return": ("exit", None),
    "exit": ("exit", None),
    "_exit": ("_exit", None),
    "_Exit": ("_exit", None),
    "quick_exit": ("_exit", None),
    "exit in a thread": ("exit", None),
    "pthread_exit": ("exit", None),
    "execve": ("exec", None),
    "fexecve": ("exec", None),
    "execveat": ("exec", None),
    "execveat of a descriptor": ("exec", None),
    **{f"SIG{number}": ("signal", signal.Signals(number).name) for number in (1, 2, 15)},
    **{f"SIG{number}": ("crash", signal.Signals(number).name) for number in (4, 6, 7, 8, 11)},
}


def line_of(program, comment):
    lines = (TESTS / "life" / program).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"// {comment}"))


@pytest.mark.parametrize("way", WAYS)
def test_way_out(way, life, out, tmp_path):  # noqa: F811
    """`beside` compares the printed wait status with the bare program's: exit status, signal and core dump's bit."""
    run = beside([sys.executable, "-c", STATUS_PRINTER, life("ways.c"), way], out=out, cwd=tmp_path)
    reports = [report for report in run.reports() if Path(report["exe"]).name == "ways"]
    assert [(report["reason"], report["signal"]) for report in reports] == [WAYS[way]]
    assert leaked(reports[0]) == {("ways.c", line_of("ways.c", "4096 lost")): (4096, 1)}
    statuses = {"return": 40, "exit": 41, "_exit": 42, "_Exit": 43, "quick_exit": 44, "exit in a thread": 45}
    wanted = int(way[3:]) if way.startswith("SIG") else statuses.get(way, 0) << 8
    assert int(run.stdout) & ~0x80 == wanted  # a machine may keep no cores


def peak_lines(report):
    return [row["site"]["line"] for row in report["peak"]]


def test_a_killed_child_is_named(life, out):  # noqa: F811
    """The line that `run` ends with, and what the report of it says."""
    script = (
        "import os, subprocess, sys\nchild = subprocess.Popen([sys.argv[1]], stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\nprint(child.pid, flush=True)\nsys.stdin.readline()\n"
        "child.kill()\nprint(child.wait(), flush=True)\n"
    )
    words = [COMMAND, "run", "--out", out, "--", sys.executable, "-c", script, life("leak_slowly.c")]
    run = subprocess.Popen([str(word) for word in words], stdin=-1, stdout=-1, stderr=-1, text=True)
    pid = int(run.stdout.readline())

    def is_seen():
        """Before the first checkpoint there is no report; an early one may have the buffer of stdout alone."""
        asked = command("report", out, "--json", "--pid", pid)
        return asked.status in (0, 1) and 7 in peak_lines(json.loads(asked.stdout))

    wait_for(is_seen)
    said, errors = run.communicate("go\n", timeout=60)
    assert (said, run.returncode) == ("-9\n", 0)
    assert f"leak_slowly (pid {pid}): was killed; its last checkpoint is kept\n" in errors
    (report,) = [report for report in read_reports(out) if report["pid"] == pid]
    assert report["reason"] == "killed" and 7 in peak_lines(report)
    assert "not looked for" in command("report", out, "--pid", pid).stdout.decode()


# ---- killed by the kernel for want of memory

LIMIT_BYTES = 96 << 20


@pytest.fixture
def limited_group():
    """A memory cgroup of LIMIT_BYTES, of whichever version is here."""
    own = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    names = {"memory": ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), "": ("/sys/fs/cgroup", "memory.max")}
    group, why = None, "no memory cgroup is here"
    for controller, (root, limit) in names.items():
        if controller not in own and controller:
            continue
        folder = Path(root + own.get(controller, "/")) / f"heaptide-test-{os.getpid()}"
        try:
            folder.mkdir()
            (folder / limit).write_text(str(LIMIT_BYTES))
            group = folder
            break
        except OSError as error:
            why = f"{folder}: {error.strerror}"
            if folder.is_dir():
                folder.rmdir()
    if not group:
        pytest.skip(why)
    yield group
    wait_for(lambda: not (group / "cgroup.procs").read_text().split())
    group.rmdir()


def test_killed_by_the_kernel_for_want_of_memory(limited_group, life, out):  # noqa: F811
    """Only the program is in the group: its parent, which waits for it, is not."""
    enter = f'echo $$ > {limited_group}/cgroup.procs && exec "$0"'
    run = traced(["/bin/sh", "-c", enter, life("fill.c")], out=out)
    if run.status == 0:
        pytest.skip("the limit of the group does not hold here (swap)")
    assert run.status == -signal.SIGKILL and "ended by SIGKILL" in run.stderr, run.describe()
    (report,) = [report for report in run.reports() if report["exe"].endswith("fill")]
    assert (report["reason"], report["signal"]) == ("killed", None)
    (row,) = [row for row in report["peak"] if row["site"]["line"] == line_of("fill.c", "fills")]
    assert row["site"]["function"] == "fill" and row["bytes"] == row["blocks"] << 20
    assert 8 << 20 <= row["bytes"] <= LIMIT_BYTES


# ---- many threads


@pytest.mark.heavy
@pytest.mark.parametrize("how", ["", "born"])
def test_2000_threads_lose_exactly(how, life, out):  # noqa: F811
    program, line = life("many_leaks.c"), line_of("many_leaks.c", "100 lost")
    probe = execute([program], timeout=120)
    if probe.status == 77:
        pytest.skip("this machine does not allow 2000 threads at once")
    with running([program, how], out) as process:
        assert command("snapshot", out, "--label", "before", timeout=120).status == 0
        process.stdin.close()
        assert process.wait(120) == 0
    for folder in (out / "before", out):
        (report,) = read_reports(folder)
        assert leaked(report) == {("many_leaks.c", line): (200_000, 2000)}, report["notes"]
    assert not re.search("not be parked|skipped", " ".join(read_reports(out / "before")[0]["notes"]))
