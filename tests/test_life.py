"""How processes end, and reports of processes that go on. life/ holds the programs."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import program_build
from conftest import TESTS
from heaptide_run import COMMAND, beside, command, execute, read_reports, traced
from test_cases_start import leaked

CRASHES = {
    "segv": signal.SIGSEGV,
    "fpe": signal.SIGFPE,
    "ill": signal.SIGILL,
    "bus": signal.SIGBUS,
    "abort": signal.SIGABRT,
    "sent": signal.SIGBUS,
    "overflow": signal.SIGSEGV,
    "thread": signal.SIGSEGV,
}
# Runs its arguments as a child with core dumps allowed and prints the child's wait status whole.
STATUS_PRINTER = """
import os, resource, sys
child = os.fork()
if not child:
    resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))
    os.execv(sys.argv[1], sys.argv[1:])
print(os.waitpid(child, 0)[1])
"""


@pytest.fixture
def life():
    return lambda name: program_build.build(TESTS / "life" / name, flags=("-pthread",))


def wait_for(condition, seconds=20):
    """Until `condition` is true; returns what it gave."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "not in time"
        time.sleep(0.02)
    return found


def has_ended(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


@contextmanager
def running(argv, out, options=()):
    """A traced program that has said `ready`, with an input that it can wait on. Ended by that input's end."""
    process = subprocess.Popen(
        [COMMAND, "run", "--out", out, *options, "--", *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        if process.poll() is None and not process.stdin.closed:
            process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def program_pid(out):
    """The one process that is being recorded."""
    (file,) = wait_for(lambda: list(Path(out).glob(".heaptide.*.live")))
    return int(file.name.split(".")[2])


# ---- ways out


@pytest.mark.parametrize("way", CRASHES)
def test_crash_is_reported_and_stays_the_same(way, life, out, tmp_path):
    run = traced([life("crashes.c"), way], out=out, cwd=tmp_path)
    assert run.status == execute([life("crashes.c"), way], cwd=tmp_path).status == -CRASHES[way]
    report = run.report()
    assert (report["reason"], report["signal"]) == ("crash", CRASHES[way].name)
    # An overflowing stack is full of what calls left there: a word of it may hold the block.
    assert leaked(report) == {("crashes.c", 15): (4096, 1)} or way == "overflow"
    assert report["summary"]["by_kind"]["heap"]["live_bytes"] >= 4096
    assert f"ended by {CRASHES[way].name}" in run.own_stderr[0]


@pytest.mark.parametrize("way", CRASHES)
def test_wait_status_bit_by_bit(way, life, out, tmp_path):
    """With the core dump's bit."""
    run = beside([sys.executable, "-c", STATUS_PRINTER, life("crashes.c"), way], out=out, cwd=tmp_path)
    assert int(run.stdout) & 0x7F == CRASHES[way]
    assert [report["reason"] for report in run.reports()] == ["exit", "crash"]
    (line,) = [line for line in run.own_stderr if "crashed with" in line]
    assert f"crashes (pid {run.reports()[1]['pid']}): crashed with {CRASHES[way].name}" in line


def test_own_crash_handler_still_runs(out):
    script = "import faulthandler, os; faulthandler.enable(); os.kill(os.getpid(), 11)"
    run = beside([sys.executable, "-c", script], out=out)
    assert run.status == -signal.SIGSEGV and "Fatal Python error: Segmentation fault" in run.stderr
    assert run.report()["reason"] == "crash"


def test_handlers_and_alternate_stack_are_the_programs(life, out):
    run = beside([life("own_signals.c")], out=out)
    assert run.status == 0 and b"caught" in run.stdout and run.report()["reason"] == "exit"


# ---- killed


def killed_report(out):
    (report,) = read_reports(out)
    assert (report["reason"], report["signal"]) == ("killed", None)
    return report


def assert_names_the_leak(report):
    assert report["summary"]["live_bytes"] >= 26214 * 20
    (row,) = [row for row in report["peak"] if row["site"]["line"] == 7]
    assert row["site"]["function"] == "leak" and row["bytes"] % 26214 == 0
    assert report["growth"]["sites"][0]["site"]["line"] == 7
    mean = report["summary"]["live_bytes"] / report["seconds"]  # below 1 MiB/s where the program sleeps too long
    assert mean < 1.3e6 and mean / 2 < report["growth"]["sites"][0]["bytes_per_s"] < mean * 2


def test_killed_process_names_its_leak(life, out):
    with running([life("leak_slowly.c")], out) as process:
        time.sleep(4)
        os.kill(program_pid(out), signal.SIGKILL)
        assert process.wait(20) == -signal.SIGKILL
    assert "ended by SIGKILL" in process.stderr.read()
    assert [path.suffix for path in out.iterdir()] == [".bin"], "the checkpoint has become the report"
    report = killed_report(out)
    assert_names_the_leak(report)
    leaked = {value for key, value in report["summary"].items() if key.startswith("leaked_")}
    assert leaked == {None}, "nobody looked for leaks: their figures are unknown, not 0"
    assert any("leaks were not looked for" in note for note in report["notes"]), report["notes"]
    text = command("report", out).stdout.decode()
    assert len(re.findall(r"^(?:LEAKS|  leaked) +not looked for$", text, re.MULTILINE)) == 2, text


def test_killed_together_with_heaptide(life, out):
    with running([life("leak_slowly.c")], out) as process:
        time.sleep(4)
        (report,) = read_reports(out)
        assert report["reason"] == "snapshot", "it is not killed yet"
        os.killpg(process.pid, signal.SIGKILL)
    assert_names_the_leak(killed_report(out))


@pytest.mark.parametrize("who", ["alone", "with heaptide"])
def test_killed_after_a_snapshot(who, life, out):
    """The report is the newest that is there, and as long as the process lives the snapshot that was asked for."""
    with running([life("leak_slowly.c")], out) as process:
        assert command("snapshot", out).status == 0
        (path,) = out.glob("heaptide.*.bin")
        taken, pid = path.stat().st_mtime_ns, program_pid(out)
        slots = [out / f".heaptide.{pid}.{suffix}" for suffix in ("live", "live2")]
        wait_for(lambda: all(slot.exists() and slot.stat().st_mtime_ns > taken for slot in slots))
        (snapshot,) = read_reports(out)
        assert snapshot["reason"] == "snapshot" and snapshot["leaks"]
        if who == "alone":
            os.kill(pid, signal.SIGKILL)
            assert process.wait(20) == -signal.SIGKILL
            assert [path.suffix for path in out.iterdir()] == [".bin"]
        else:
            os.killpg(process.pid, signal.SIGKILL)
            wait_for(lambda: has_ended(pid))
    report = killed_report(out)
    assert report["summary"]["live_bytes"] > snapshot["summary"]["live_bytes"]
    assert report["seconds"] > snapshot["seconds"]


def test_nothing_is_left_beside_the_reports(case, out):
    """Children that fork, exec and end in all ways take their checkpoints with them."""
    assert beside([case("fork_exit.c")], out=out).status == 0
    assert {path.suffix for path in out.iterdir()} == {".bin"}


# ---- snapshots


@pytest.mark.parametrize("call", ["epoll", "poll", "read", "select", "nanosleep", "sleep"])
def test_snapshot_of_a_sleeper_wakes_nobody(call, life, out):
    timed = call in ("nanosleep", "sleep")
    with running([life("asleep.c"), call], out) as process:
        for label in ("one", "two"):
            done = command("snapshot", out, "--label", label)
            assert done.status == 0, done.describe()
        if not timed:
            process.stdin.write("go\n")
            process.stdin.flush()
        assert process.stdout.readline() == ("0 0\n" if timed else "1 0\n")
    for folder in (out / "one", out / "two", out):
        (report,) = read_reports(folder)
        assert leaked(report) == {("asleep.c", 14): (1234, 1)}
        assert report["label"] == (None if folder == out else folder.name)
        assert report["reason"] == ("exit" if folder == out else "snapshot")


@pytest.mark.parametrize(
    "call", ["poll", "ppoll", "select", "pselect", "epoll", "usleep", "nanosleep", "sigtimedwait", "semtimedop"]
)
def test_a_timeout_comes_out_under_snapshots_without_end(call, life, out):
    """What an interrupted call has slept already comes off its time, and off no later call's."""
    run = traced([life("timed_out.c"), call], out=out)
    assert (run.status, run.stdout) == (0, b"0 in time\n0 in time\n"), run.describe()


def test_snapshot_refusals(life, out, tmp_path):
    assert command("snapshot", tmp_path / "none").status == 2
    assert command("snapshot").status == 2
    with running([life("asleep.c"), "poll"], out):
        assert command("snapshot", out, "--label", "one").status == 0
        for label in ("one", "a/b", ".hidden", ""):
            done = command("snapshot", out, "--label", label)
            assert done.status == 2 and len(done.own_stderr) == 1, label
    done = command("snapshot", out)
    assert done.status == 2 and "no traced process runs there" in done.stderr


def test_snapshot_of_a_stopped_process_waits_for_it(life, out):
    with running([life("asleep.c"), "poll"], out):
        pid = program_pid(out)
        os.kill(pid, signal.SIGSTOP)
        asking = subprocess.Popen([COMMAND, "snapshot", out], stderr=subprocess.PIPE)
        time.sleep(0.5)
        assert asking.poll() is None
        os.killpg(os.getpgid(pid), signal.SIGCONT)  # heaptide has stopped with it
        assert asking.wait(20) == 0


def test_snapshot_that_does_not_come_in_its_minute(life, out):
    with running([life("asleep.c"), "poll"], out) as process:
        os.kill(program_pid(out), signal.SIGSTOP)
        asked = command("snapshot", out, timeout=120)
        assert asked.status == 1 and asked.seconds >= 60 and len(asked.own_stderr) == 1, asked.describe()
        os.killpg(process.pid, signal.SIGCONT)
    assert process.returncode == 0


def stopped_with_its_program(process, out):
    """Stops the program alone; returns its pid once heaptide has stopped too, as a shell's job control wants it."""
    pid = program_pid(out)
    os.kill(pid, signal.SIGSTOP)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    return pid


def test_a_stopped_program_that_is_killed(life, out):
    with running([life("asleep.c"), "poll"], out) as process:
        os.kill(stopped_with_its_program(process, out), signal.SIGKILL)
        assert process.wait(20) == -signal.SIGKILL
    assert subprocess.run(["pgrep", "-s", str(process.pid)], check=False).returncode == 1  # nobody is left


def test_a_stopped_program_that_is_continued_alone(life, out):
    with running([life("asleep.c"), "poll"], out) as process:
        os.kill(stopped_with_its_program(process, out), signal.SIGCONT)
        _, status = os.waitpid(process.pid, os.WCONTINUED)
        assert os.WIFCONTINUED(status)
    assert process.returncode == 0


@pytest.mark.parametrize("root", ["writable", "read-only"])
def test_snapshot_and_end_where_much_is_denied(root, life, out):
    """Under a filter that denies ptrace, process_vm_readv and tgkill, with all descriptors closed, and where nothing
    but the report folder can be written to: the same leak in the snapshot and at the end, and nothing else."""
    words = [life("denied.c")]
    if root == "read-only":
        out.mkdir()
        script = f"mount --bind {out} {out} && mount -o remount,bind,ro / && "
        probe = execute(["unshare", "-m", "/bin/sh", "-c", f"{script}! touch /denied 2>&-"])
        if probe.status != 0:
            pytest.skip(f"the root cannot be made read-only here: {probe.stderr.strip()}")
        words = ["unshare", "-m", "/bin/sh", "-c", f"{script}exec {words[0]}"]
    with running(words, out) as process:
        done = command("snapshot", out, "--label", "before")
        assert done.status == 0, done.describe()
        process.stdin.close()
        assert process.wait(30) == 0
    reports = read_reports(out / "before") + read_reports(out)
    ours = [report for report in reports if Path(report["exe"]).name == "denied"]
    assert [report["reason"] for report in ours] == ["snapshot", "exit"]
    for report in ours:
        assert leaked(report) == {("denied.c", 32): (1000, 1)}, report["notes"]


def test_snapshot_by_call(life, out):
    run = traced([life("snapshot_by_call.c")], out=out)
    assert (run.status, run.stdout) == (0, b"0 0 1\n0\n"), run.describe()
    losses = [
        sum(bytes_ for bytes_, _ in leaked(read_reports(folder)[0]).values())
        for folder in (out / "before", out / "after", out)
    ]
    assert losses == [1000, 1500, 1500]


def test_snapshot_every(life, out):
    """A program that is killed leaves the last one, with its leak scan."""
    with running([life("leak_slowly.c")], out, options=["--snapshot-every", "1"]):
        (path,) = wait_for(lambda: list(out.glob("heaptide.*.bin")))
        first = path.stat().st_ino
        wait_for(lambda: path.stat().st_ino != first)
        os.kill(program_pid(out), signal.SIGKILL)
    (report,) = read_reports(out)
    assert report["reason"] == "snapshot" and report["summary"]["leaked_direct_bytes"] >= 26214 * 30


def test_snapshots_of_busy_threads_find_no_leak(life, out):
    """Blocks that are on their way from one place to another are not lost."""
    with running([life("busy_reallocs.c")], out):
        for number in range(12):
            assert command("snapshot", out, "--label", f"n{number}").status == 0
    for number in range(12):
        (report,) = read_reports(out / f"n{number}")
        assert leaked(report) == {} and report["notes"] == [], number


def test_snapshot_of_many_threads(out):
    script = "import sys, threading, time\nthreading.stack_size(65536)\ngate = threading.Event()\n"
    script += "workers = [threading.Thread(target=gate.wait) for _ in range(2000)]\n"
    script += "[worker.start() for worker in workers]\nprint('ready', flush=True)\nsys.stdin.read()\ngate.set()\n"
    with running([sys.executable, "-c", script], out) as process:
        assert command("snapshot", out, "--label", "many").status == 0
        process.stdin.close()
        assert process.wait(20) == 0
    assert len(read_reports(out / "many")[0]["threads"]) >= 1


def test_stop_is_short(life, out):
    """Processor time that the program's own thread loses to a snapshot: 10 million live blocks, at most 20 ms."""
    with running([life("big_heap.c"), "10000000"], out) as process:
        assert command("snapshot", out, "--label", "now").status == 0
        process.stdin.close()
        longest_ms = float(process.stdout.readline())
    assert longest_ms < 20
    assert read_reports(out / "now")[0]["summary"]["live_bytes"] >= 10_000_000 * 24


def test_copies_hold_no_descriptors(out):
    """The reader of a pipe sees its end although a copy of the writer is at work."""
    script = "import os, sys\nkeep = [bytes(50) for _ in range(2000000)]\nreader, writer = os.pipe()\n"
    script += "if not os.fork():\n    os.close(writer)\n    os.read(reader, 1)\n    os._exit(0)\n"
    script += "os.close(reader)\nprint('ready', flush=True)\nsys.stdin.readline()\nos.close(writer)\nos.wait()\n"
    script += "print('ended', flush=True)\nsys.stdin.read()\n"
    with running([sys.executable, "-c", script], out, options=["--py"]) as process:
        asking = subprocess.Popen([COMMAND, "snapshot", out], stderr=subprocess.DEVNULL)
        time.sleep(0.4)
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ended\n"
        assert asking.wait(60) == 0


def test_case_25_requests_pile_up(case, out):
    """A snapshot every 20 ms, also while the last one is being written."""
    process = subprocess.Popen([COMMAND, "run", "-q", "--out", out, "--", case("exit_busy.c", flags=("-pthread",))])
    asking = []
    while process.poll() is None:
        asking.append(subprocess.Popen([COMMAND, "snapshot", out], stderr=subprocess.DEVNULL))
        time.sleep(0.02)
    assert process.wait() == 0
    assert all(one.wait(70) in (0, 1, 2) for one in asking)
    assert read_reports(out)[0]["reason"] == "exit"


def test_a_daemon_outlives_the_run(life, out):
    """`run` ends with CMD and says that more is to come; the report is there when the daemon has ended."""
    run = traced([life("daemon.c")], out=out)
    assert run.status == 0
    assert run.own_stderr[1:] == [f"heaptide: 1 process of CMD goes on; its report will be in {out} when it has ended"]
    until = time.monotonic() + 60
    while len(list(Path(out).glob("heaptide.*.bin"))) < 2:
        assert time.monotonic() < until
        time.sleep(0.05)
    rows = [(row["main"], row["reason"], row["summary"]["leaked_direct_bytes"]) for row in read_reports(out)]
    assert sorted(rows) == [(False, "exit", 100), (True, "exit", 0)]


def test_sigterm_while_the_report_of_an_exit_begins(life, out):
    """Whichever comes first: each child has its report."""
    reports = traced([life("exit_beside_sigterm.c"), "200"], out=out, timeout=150).reports("--top", "1")
    reasons = sorted(report["reason"] for report in reports if not report["main"])
    assert len(reasons) == 200 and set(reasons) <= {"_exit", "signal"}, reasons
