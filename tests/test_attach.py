"""Attaching to processes that run, and letting go of them. life/ holds the programs."""

import hashlib
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
from heaptide_run import COMMAND, command, read_reports, traced
from program_build import TESTS
from slots import Slots
from test_cases_start import leaked
from test_life import life, wait_for  # noqa: F401 (a fixture)

RESIDENT_LIMIT_BYTES = 2 << 20


@contextmanager
def bare(argv, environment=None):
    """A program on its own that has said `ready`; its input's end ends it. `environment` is put on top of our own."""
    words, pipe = [str(word) for word in argv], subprocess.PIPE
    env = {**os.environ, **(environment or {})}
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=env)
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        if process.poll() is None and not process.stdin.closed:
            process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


def done(*words, **how):
    run = command(*words, **how)
    assert run.status == 0, run.describe()
    return run


def memory(pid):
    """(permissions, bytes) of every readable mapping of a file but heaptide's: where slots are."""
    found = {}
    with open(f"/proc/{pid}/mem", "rb", 0) as file:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            place, rights, offset, _, _, *path = line.split(maxsplit=5)
            if not path or not path[0].startswith("/") or "libheaptide" in line or not rights.startswith("r--"):
                continue
            start, end = (int(part, 16) for part in place.split("-"))
            file.seek(start)
            found[path[0], offset] = (rights, hashlib.sha256(file.read(end - start)).hexdigest())
    return found


def handlers(pid):
    return [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("Sig")][2:]


def resident_bytes(pid):
    """By its page tables: what /proc/PID/statm says may be off by some hundred pages on newer kernels."""
    return int(re.search(r"^Rss: +(\d+) kB$", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)[1]) * 1024


def snapshot_after(rounds, out):
    """The report of a snapshot that server.c has gone so many rounds before."""

    def snapshot():
        done("snapshot", out)
        (report,) = read_reports(out, "--top", "1000")
        kept = [row["allocations"] for row in report["hotspots"] if row["site"]["line"] == 23]
        return report if kept and kept[0] >= rounds else None

    return wait_for(snapshot, seconds=60)


def test_attached_process_shows_what_it_does_from_then_on(life, out):  # noqa: F811
    with bare([life("server.c"), "4"]) as process:
        attached = time.monotonic()
        done("attach", process.pid, "--out", out)
        report = snapshot_after(8, out)
        seconds = time.monotonic() - attached
        done("detach", out)
        (last,) = read_reports(out)
        process.stdin.close()
        assert process.stdout.read() == "0\n" and process.wait(20) == 0
    assert report["attached"] and report["main"] and report["reason"] == "snapshot" and last["reason"] == "detach"
    assert report["growth"]["cpu"]["verdict"] == "n/a" and "attached" in report["growth"]["cpu"]["why"]
    assert any(note.startswith("before attach: 8 MiB in use") for note in report["notes"]), report["notes"]
    found = leaked(report)
    assert set(found) == {("server.c", 17)} and 5 <= found["server.c", 17][1] <= 10 * seconds + 1, found
    assert report["summary"]["frees"] > 100


def test_threads_that_allocate_slowly_are_not_called_fast(life, out):  # noqa: F811
    """Peaks of a hundred threads are too many to add up one by one on a busy machine; what that may miss is next to
    nothing here, and then nothing is said."""
    with bare([life("slow_threads.c")]) as process:
        done("attach", process.pid, "--out", out)

        def has_grown():
            done("snapshot", out)
            return read_reports(out)[0]["summary"]["peak_bytes"] > 24 << 20

        wait_for(has_grown, seconds=60)
        done("detach", out)
    (report,) = read_reports(out)
    assert not any("so fast" in note for note in report["notes"]), report["notes"]


def test_a_program_whose_malloc_is_its_own_entry(tmp_path):
    """Debian's python3 is one: a program at fixed addresses that takes malloc's address."""
    program = program_build.build(TESTS / "life" / "fixed.c", flags=("-fno-pie", "-no-pie"))
    with bare([program]) as process:
        for number in range(2):
            out = tmp_path / str(number)
            done("attach", process.pid, "--out", out)
            process.stdin.write("go\n")
            process.stdin.flush()
            assert process.stdout.readline() == "same\n"
            done("detach", out)
            (report,) = read_reports(out)
            assert not any("own malloc" in note for note in report["notes"])
            assert (report["summary"]["allocations"], report["summary"]["frees"]) == (30, 5)
            assert report["summary"]["live_bytes"] == 15 * 1000 + 10 * 2000


def test_an_allocator_of_its_own_that_holds_its_lock(life, tmp_path):  # noqa: F811
    """Nothing is called in a thread that is inside it: it would wait for a lock that it holds itself."""
    with bare([life("locked_malloc.c")]) as process:
        for number in range(5):
            done("attach", process.pid, "--out", tmp_path / str(number))
            done("detach", tmp_path / str(number))
        process.stdin.close()
        assert process.stdout.read() == "done\n" and process.wait(20) == 0


def test_rounds_leave_the_process_as_it_was(life, out, tmp_path):  # noqa: F811
    """Slots and handlers are put back byte by byte, nothing goes wrong in it, and its memory does not grow."""
    with bare([life("server.c"), "16"]) as process:
        before = 0
        while resident_bytes(process.pid) - before > 64 << 10:  # its threads' heaps grow at first
            before = resident_bytes(process.pid)
            time.sleep(0.5)
        slots, own, before = memory(process.pid), handlers(process.pid), resident_bytes(process.pid)
        bound = Slots(process.pid)
        assert len(bound.held) >= 20 and any(key[2] == "malloc" for key in bound.held)
        for number in range(8):
            folder = tmp_path / str(number)
            done("attach", process.pid, "--out", folder)
            assert memory(process.pid) != slots
            assert {key[2] for key in Slots(process.pid).led_to_heaptide()} >= {"malloc", "realloc", "free"}
            if number % 3 == 0:
                done("snapshot", folder)
            done("detach", folder)
            assert memory(process.pid) == slots and handlers(process.pid) == own
            after_detach = Slots(process.pid)
            assert after_detach.led_to_heaptide() == set() and after_detach.changed_since(bound) == {}
        after = resident_bytes(process.pid)
        process.stdin.close()
        assert process.stdout.read() == "0\n" and process.wait(20) == 0
    assert after - before < RESIDENT_LIMIT_BYTES
    assert read_reports(tmp_path / "7")[0]["summary"]["allocations"] > 0


def test_every_signal_action_is_put_back(life, tmp_path):  # noqa: F811
    """As the kernel keeps them: handler, flags, restorer and mask of all 64 signals, and the alternate stack."""

    def actions():
        process.stdin.write("\n")
        process.stdin.flush()
        return process.stdout.readline().split()

    with bare([life("signal_actions.c")]) as process:
        before = actions()
        assert len(before) == 65 and before[10].startswith("11:0:")
        for number in range(3):
            done("attach", process.pid, "--out", tmp_path / str(number))
            during = actions()
            done("detach", tmp_path / str(number))
            assert during != before and actions() == before


@pytest.mark.parametrize("call", ["epoll", "read", "nanosleep", "sleep"])
def test_a_sleeper_is_not_woken(call, life, out):  # noqa: F811
    timed = call in ("nanosleep", "sleep")
    with bare([life("asleep.c"), call]) as process:
        done("attach", process.pid, "--out", out)
        done("detach", out)
        if not timed:
            process.stdin.write("go\n")
            process.stdin.flush()
        assert process.stdout.readline() == ("0 0\n" if timed else "1 0\n")


def test_a_program_whose_plt_stands_for_malloc(life, out):  # noqa: F811
    """Debian's python3 is one: its malloc is the C library's all the same."""
    lines = (TESTS / "life" / "fixed_address.c").read_text().splitlines()
    called, pointed = (
        next(n for n, line in enumerate(lines, 1) if line.endswith(tag)) for tag in ("called", "pointed")
    )
    with bare([life("fixed_address.c")]) as process:
        done("attach", process.pid, "--out", out)
        for _ in range(10):
            process.stdin.write("go\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"
        done("detach", out)
    (report,) = read_reports(out)
    live = {row["site"]["line"]: row["bytes"] for row in report["peak"]}
    assert (live.get(called), live.get(pointed)) == (10_000, 20_000), live
    assert not any("its own malloc" in note for note in report["notes"]), report["notes"]


def test_a_process_whose_loader_is_at_work(tmp_path):
    """Its C library is not mapped yet: the loader waits at a pipe that it takes for a library."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(["/bin/sleep", "60"], env={"LD_PRELOAD": str(pipe)}, stderr=subprocess.DEVNULL)
    try:
        attach = subprocess.Popen([COMMAND, "attach", str(process.pid), "--out", tmp_path / "report"])
        time.sleep(0.2)
        assert attach.poll() is None
        pipe.open("w").close()
        assert attach.wait(60) == 0
        done("detach", tmp_path / "report")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_children_of_an_attached_process(out):
    script = "import os, subprocess, sys\nprint('ready', flush=True)\nsys.stdin.readline()\n"
    script += "child = os.fork()\nif not child:\n    keep = bytearray(3 << 20)\n    os._exit(0)\n"
    script += "os.waitpid(child, 0)\nsubprocess.run(['/bin/echo', 'hi'])\nprint('over', flush=True)\nsys.stdin.read()\n"
    with bare([sys.executable, "-c", script]) as process:
        done("attach", process.pid, "--out", out)
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "hi\n" and process.stdout.readline() == "over\n"
        done("detach", out)
    reports = {(Path(report["exe"]).name[:6], report["main"]): report for report in read_reports(out)}
    assert set(reports) == {("python", True), ("python", False), ("echo", False)}
    assert reports["python", False]["summary"]["peak_bytes"] >= 3 << 20


def test_detach_leaves_programs_that_were_started_meanwhile(out):
    """They are recorded to their end, and the process that started them is let go of without a complaint."""
    script = "import subprocess, sys\nprint('ready', flush=True)\nsys.stdin.readline()\n"
    script += "child = subprocess.Popen(['/bin/cat'], stdin=subprocess.PIPE)\nchild.stdin.write(b'up\\n')\n"
    script += "child.stdin.flush()\nsys.stdin.read()\nchild.stdin.close()\nchild.wait()\n"
    with bare([sys.executable, "-c", script]) as process:
        done("attach", process.pid, "--out", out)
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "up\n"
        run = done("detach", out)
        assert "it was not attached to" in run.stderr and f"detached from {process.pid}" in run.stderr
        process.stdin.close()
        assert process.wait(20) == 0
    reports = {Path(report["exe"]).name[:6]: report for report in read_reports(out)}
    assert set(reports) == {"python", "cat"}
    assert (reports["python"]["reason"], reports["cat"]["reason"]) == ("detach", "exit")


@pytest.mark.parametrize("call, most", [("pause", 5), ("poll", 5), ("read", 15)])
def test_a_signal_that_comes_while_a_thread_is_stopped_interrupts_its_call(call, most, life, out):  # noqa: F811
    """Once for nearly each of 30 snapshots, it did not. What comes at the very end of a stop may still be late; and the
    thread has to be seen asleep where its call is one that SA_RESTART lets go on."""
    with bare([life("interrupted.c"), call, "4"]) as process:
        done("attach", process.pid, "--out", out)
        for _ in range(30):
            run = command("snapshot", out)
            assert run.status in (0, 2), run.describe()  # 2: it has ended
        command("detach", out)
        assert int(process.stdout.readline()) <= most and process.wait(20) == 0


@pytest.mark.parametrize("again", [False, True], ids=["detached", "attached again"])
def test_a_thread_that_is_being_born_at_the_detach(again, life, tmp_path):  # noqa: F811
    """It knows nothing but the start that heaptide gave it, and takes that when heaptide is gone."""

    def tell(process):
        process.stdin.write("\n")
        process.stdin.flush()
        return process.stdout.readline()

    with bare([life("half_born.c")]) as process:
        done("attach", process.pid, "--out", tmp_path / "first")
        assert tell(process) == "held\n"
        done("detach", tmp_path / "first")
        if again:
            done("attach", process.pid, "--out", tmp_path / "second")
        assert tell(process) == "begun\n"
        if again:
            done("detach", tmp_path / "second")
        process.stdin.close()
        assert process.wait(20) == 0


def test_who_has_ended_is_not_asked(life, out):  # noqa: F811
    """A zombie is nobody to detach from, nor to ask for a snapshot."""
    with bare([life("asleep.c"), "poll"]) as process:
        done("attach", process.pid, "--out", out)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        for word in ("snapshot", "detach"):
            run = command(word, out)
            assert run.status == 2 and "no traced process runs there" in run.stderr, run.describe()


def test_refusals(life, out, planted, tmp_path):  # noqa: F811
    def refused(*words):
        run = command(*words)
        assert run.status == 2 and len(run.own_stderr) == 1, run.describe()
        return run.stderr

    assert "no such process" in refused("attach", 4194300, "--out", out)
    assert not out.exists(), "nothing is left of an attempt"
    refused("attach", "x")
    assert "--py-depth" in refused("attach", os.getpid(), "--py-depth", "0")
    assert "--gpu-timeline" in refused("attach", os.getpid(), "--gpu-timeline", "sites,stream", "--out", out)
    refused("attach")
    refused("detach", tmp_path)
    with bare([life("asleep.c"), "poll"]) as process:
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(0.1)
        assert "stopped" in refused("attach", process.pid, "--out", out)
        os.kill(process.pid, signal.SIGCONT)
        done("attach", process.pid, "--out", out)
        assert "already" in refused("attach", process.pid, "--out", tmp_path / "second")
        done("detach", out)
        assert "no traced process" in refused("detach", out)
    run = traced(["/bin/sh", "-c", f"{COMMAND} detach {out}2"], out=f"{out}2")
    assert "heaptide run" in run.stderr and run.status == 2
