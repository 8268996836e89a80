"""`heaptide top`: what it shows of a process that runs, on terminals and without one. life/ holds the programs."""

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import gpu_gear
from heaptide_run import COMMAND, command, read_reports
from terminal import Terminal
from test_attach import bare, done
from test_life import life  # noqa: F401 (a fixture)

MIB = 1 << 20
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": MIB}
HINT = "q quit"


class Program:
    """top_sites.c or another program of its kind, recorded into `out`."""

    def __init__(self, program, out, *options, arguments=()):
        words = [COMMAND, "run", "-q", "--out", out, *options, "--", program, *arguments]
        pipe = subprocess.PIPE
        self.run = subprocess.Popen([str(word) for word in words], stdin=pipe, stdout=pipe, text=True)
        assert self.run.stdout.readline() == "ready\n"
        self.pid = int(next(Path(out).glob(".heaptide.*.live")).name.split(".")[2])

    def tell(self, order):
        self.run.stdin.write(f"{order}\n")
        self.run.stdin.flush()
        assert self.run.stdout.readline() == "done\n"

    def end(self):
        if self.run.stdin and not self.run.stdin.closed:
            self.run.stdin.close()
        return self.run.wait(20)


@contextmanager
def recorded(program, out, *options, arguments=()):
    running = Program(program, out, *options, arguments=arguments)
    try:
        yield running
        assert running.end() == 0
    finally:
        running.run.kill()
        running.run.wait()


@pytest.fixture
def sites(life, out):  # noqa: F811
    with recorded(life("top_sites.c"), out) as running:
        yield running


def top(target, **how):
    return Terminal([COMMAND, "top", target], **how)


def row(lines, function):
    """[LIVE, GROWTH/s, ALLOCS/s, DEVICE] of a site in a wide table, None: it is not there."""
    for line in lines:
        if found := re.search(rf"^ *(\S+ \S+) +(\S+ \S+) +([\d,]+) +(\S+ \S+)  {function} top_sites\.c:\d+$", line):
            return list(found.groups())
    return None


def sites_shown(lines):
    return re.findall(r"  (\w+) top_sites\.c:\d+", "\n".join(lines))


def first_is(function):
    return lambda lines: sites_shown(lines)[:1] == [function]


def bytes_of(text):
    number, unit = text.lstrip("+-").split()
    return float(number) * UNITS[unit]


def test_the_table_shows_the_bytes_of_each_site(sites, out):
    with top(out) as terminal:
        terminal.wait(lambda lines: row(lines, "hold_large"))
        assert row(terminal.lines, "hold_large") == ["3.00 MiB", "0 B", "0", "0 B"]
        assert row(terminal.lines, "hold_small") == ["100 KiB", "0 B", "0", "0 B"]
        header = terminal.lines[0]
        assert header.startswith("top_sites (") and f"({sites.pid})" in header and "allocs/s" in header
        live = re.search(r"live (\S+ MiB)  peak (\S+ MiB)", header)
        assert 3.09 <= bytes_of(live[1]) / MIB <= 3.2 and live[1] == live[2]
        resident = int(Path(f"/proc/{sites.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        assert abs(bytes_of(re.search(r"rss (\S+ \S+)", header)[1]) - resident) < MIB
        assert "1 thread " in terminal.lines[1] and "device 0 B" in terminal.lines[1]
        assert terminal.lines[-1].startswith(HINT) and all(len(line) <= 80 for line in terminal.lines)
        for expected in range(1, 4):
            sites.tell("g")
            terminal.wait(lambda lines, count=expected: (row(lines, "grow") or [""])[0] == f"{count}.00 MiB")
        terminal.keys("q")
        assert terminal.end() == 0


def test_keys_sort(sites, out):
    with top(out) as terminal:
        terminal.wait(first_is("hold_large"))
        terminal.keys("g")
        terminal.wait(first_is("grow"), meanwhile=lambda: sites.tell("g"))
        terminal.wait(lambda lines: "sites by growth" in lines[1] and row(lines, "grow")[1].startswith("+"))
        terminal.keys("a")
        terminal.wait(first_is("churn"), meanwhile=lambda: sites.tell("c"))
        terminal.wait(lambda lines: "by allocations" in lines[1] and row(lines, "churn")[2].replace(",", "") > "0")
        terminal.keys("d")
        terminal.wait(lambda lines: "sites by device" in lines[1])
        for _ in range(8):
            sites.tell("g")
        terminal.keys("l")
        terminal.wait(lambda lines: first_is("grow")(lines) and "sites by live" in lines[1])
        terminal.keys("q")
        assert terminal.end() == 0


def test_device_bytes(out, monkeypatch):
    for name, value in gpu_gear.simulated().items():
        monkeypatch.setenv(name, value)
    folder = os.environ["LD_LIBRARY_PATH"]
    program = gpu_gear.program("hold_device.c", flags=["-L" + folder, "-l:libamdhip64.so.6"])
    with recorded(program, out), top(out) as terminal:
        terminal.keys("d")
        terminal.wait(lambda lines: "sites by device" in lines[1])
        table = terminal.lines[3:5]
        assert re.match(r"8\.00 MiB +0 B +0 8\.00 MiB  main hold_device\.c:9$", table[0]), terminal.text
        assert re.match(r"1\.00 MiB +0 B +0 +0 B  main hold_device\.c:8$", table[1]), terminal.text
        assert "device 8.00 MiB" in terminal.lines[1]
        terminal.keys("q")
        assert terminal.end() == 0


def test_freeze_holds_the_view(sites, out):
    with top(out) as terminal:
        terminal.wait(lambda lines: row(lines, "hold_large"))
        terminal.keys(" ")
        terminal.wait(lambda lines: "FROZEN" in lines[-1])
        table = terminal.lines[:-1]
        sites.tell("g")
        until = time.monotonic() + 2.5
        terminal.wait(lambda _: time.monotonic() > until)
        assert terminal.lines[:-1] == table
        terminal.keys(" ")
        terminal.wait(lambda lines: row(lines, "grow"))


def test_snapshot_key(sites, out):
    with top(out) as terminal:
        terminal.wait(lambda lines: row(lines, "hold_large"))
        for number in (1, 2):
            terminal.keys("s")
            terminal.wait(lambda lines, count=number: lines[-1].startswith(f"snapshot top-{count} of "))
            (report,) = read_reports(out / f"top-{number}")
            assert report["reason"] == "snapshot" and report["pid"] == sites.pid


def test_help_and_back(sites, out):
    with top(out) as terminal:
        terminal.wait(lambda lines: row(lines, "hold_large"))
        terminal.keys("?")
        terminal.wait(lambda lines: lines[0] == "heaptide top" and "freeze" in "\n".join(lines))
        terminal.keys("x")
        terminal.wait(lambda lines: row(lines, "hold_large"))


def test_small_windows_and_resizing(sites, out):
    with top(out, columns=40, lines=10, env={"COLUMNS": "80", "LINES": "24"}) as terminal:
        terminal.wait(lambda lines: "hold_large" in "\n".join(lines))
        assert "3.00 MiB       0 B  hold_l.. top_sites.c" in terminal.text or "hold_large" in terminal.text
        assert "DEVICE" not in terminal.text and "LIVE  GROWTH/s  SITE" in terminal.text
        terminal.keys("?")
        terminal.wait(lambda lines: lines[0] == "heaptide top" and "quit" in "\n".join(lines))
        terminal.keys("?")
        terminal.resize(100, 30)
        terminal.wait(lambda lines: row(lines, "hold_large"))
        terminal.resize(20, 4)
        terminal.wait(lambda lines: lines[0] == "window too small")
        terminal.resize(80, 24)
        terminal.wait(lambda lines: row(lines, "hold_large"))
        terminal.keys("q")
        assert terminal.end() == 0


COLOUR = re.compile(rb"\x1b\[(?:\d+;)*3[0-7]m")


def test_colour_only_where_it_is_wanted(sites, out):
    for variable, wanted in ((None, True), ("1", False)):
        with top(out, env={"NO_COLOR": variable}) as terminal:
            terminal.wait(lambda lines: (row(lines, "grow") or ["", ""])[1].startswith("+"),
                          meanwhile=lambda: sites.tell("g"))  # fmt: skip
            assert bool(COLOUR.search(terminal.raw)) == wanted


def test_the_end_of_the_process_is_told(sites, out):
    with top(sites.pid) as terminal:
        terminal.wait(lambda lines: row(lines, "hold_large"))
        assert sites.end() == 0
        terminal.wait(lambda lines: f"process {sites.pid} has ended" in lines[-1])
        assert row(terminal.lines, "hold_large") == ["3.00 MiB", "0 B", "0", "0 B"]
        terminal.keys("q")
        assert terminal.end() == 0
        assert f"process {sites.pid} has ended (heaptide report" in terminal.text


def test_one_small_block_after_a_pause_is_seen(sites, out):
    """The process does not look at the clock for so little: it is asked again when it has run."""
    with top(out) as terminal:
        for block in (1, 2):
            quiet_until = time.monotonic() + 5
            terminal.wait(lambda lines, until=quiet_until: time.monotonic() > until)
            sites.tell("l")
            live = f"{1000 * block} B" if block == 1 else f"{1000 * block / 1024:.2f} KiB"
            terminal.wait(lambda lines, live=live: (row(lines, "grow_little") or [""])[0] == live)
        terminal.keys("q")
        assert terminal.end() == 0


def test_another_process_of_the_folder(life, out):  # noqa: F811
    program, (end, held) = life("top_sites.c"), os.pipe()
    script = f"{program} <&{end} & {program} <&{end} & wait"
    words = [COMMAND, "run", "-q", "--out", out, "--", "/bin/bash", "-c", script]
    run = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, pass_fds=[end])
    os.close(end)
    try:
        assert [run.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
        with top(out) as terminal:
            count = int(terminal.wait(lambda lines: re.search(r"process \d of (\d)", lines[1]))[1])
            seen = []
            for _ in range(count):
                seen.append(terminal.wait(lambda lines: re.match(r"(\S+) \((\d+)\) ", lines[0])).groups())
                place = terminal.lines[1].split("process")[1]
                terminal.keys("n")
                terminal.wait(lambda lines, old=place: lines[1].split("process")[1:] not in ([], [old]))
            assert [name for name, _ in seen] == ["bash", "top_sites", "top_sites"] and count == 3
            assert [int(pid) for _, pid in seen] == sorted({int(pid) for _, pid in seen})
            terminal.keys("q")
            assert terminal.end() == 0
    finally:
        os.close(held)
        assert run.wait(20) == 0


def test_without_a_terminal_one_plain_table(sites, out):
    done = command("top", out)
    assert done.status == 0 and done.stderr == "", done.describe()
    lines = done.stdout.decode().splitlines()
    assert row(lines, "hold_large") == ["3.00 MiB", "0 B", "0", "0 B"] and b"\x1b" not in done.stdout
    assert lines[0].startswith("top_sites (") and lines[2].split() == ["LIVE", "GROWTH/s", "ALLOCS/s", "DEVICE", "SITE"]
    assert command("top", sites.pid).stdout.decode().splitlines()[0].split("  ")[0] == lines[0].split("  ")[0]


def test_estimates_are_said_to_be_such(life, out):  # noqa: F811
    with recorded(life("top_sites.c"), out, "--sample", "1000"):
        assert command("top", out).stdout.decode().splitlines()[1].endswith("  estimated from a sample")


def test_a_terminal_nobody_knows_gets_the_plain_table(sites, out):
    with top(out, env={"TERM": "no-such-terminal"}) as terminal:
        assert terminal.end() == 0
        assert row(terminal.lines, "hold_large")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_signals_leave_the_terminal_in_order(sites, out, sent):
    with top(out) as terminal:
        terminal.wait(lambda lines: row(lines, "hold_large"))
        terminal.process.send_signal(sent)
        assert terminal.end() == (0 if sent == signal.SIGINT else -sent)
        assert b"\x1b[?1049l" in terminal.raw, "the alternate screen is left"


def test_what_cannot_be_watched(tmp_path):
    cases = {
        ("top",): "no folder or PID given",
        ("top", "a", "b"): "more than one operand",
        ("top", tmp_path / "nowhere"): "No such file or directory",
        ("top", tmp_path): "no traced process runs there",
        ("top", "4194304999"): "No such file or directory",
        ("top", "4194305"): "no such process",
        ("top", os.getpid()): "no folder was found",
    }
    for words, reason in cases.items():
        done = command(*words)
        assert done.status == 2 and done.stdout == b"", done.describe()
        assert len(done.own_stderr) == 1 == len(done.stderr.splitlines()) and reason in done.stderr, done.describe()


def test_the_program_sleeps_on(life, out):  # noqa: F811
    """A process that does nothing is woken twice at most, and not each second."""
    with recorded(life("top_sites.c"), out) as running, top(out) as terminal:
        terminal.wait(lambda lines: row(lines, "hold_large"))
        until = time.monotonic() + 3
        terminal.wait(lambda _: time.monotonic() > until)
        before = switches(running.pid)
        until = time.monotonic() + 3
        terminal.wait(lambda _: time.monotonic() > until)
        assert switches(running.pid) == before


def switches(pid):
    text = Path(f"/proc/{pid}/status").read_text()
    return [line for line in text.splitlines() if "ctxt_switches" in line]


# ---- given the process alone


def plain_top(pid, where):
    top = command("top", pid, cwd=where)
    assert top.status == 0, top.describe()
    return top.stdout.decode()


def test_a_process_that_was_attached_to_is_found_by_itself(life, tmp_path):  # noqa: F811
    """Whatever its folder is called, and wherever it lies, the second time too."""
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here"
    elsewhere.mkdir()
    here.mkdir()
    with bare([life("server.c"), "4"]) as process:
        assert "no folder was found" in command("top", process.pid, cwd=here).stderr
        for name in ("some reports", "others"):
            done("attach", process.pid, "--out", elsewhere / name)
            assert "server" in plain_top(process.pid, here)
            done("detach", elsewhere / name)
        assert "no folder was found" in command("top", process.pid, cwd=here).stderr
