"""The table of threads in `heaptide top`, on top_threads.c, whose threads do what they are told."""

import os
import re
import signal

import pytest

from heaptide_run import command, read_reports
from test_life import life  # noqa: F401 (a fixture)
from test_top import Program, recorded, top

ROW = re.compile(r"^ *([+-]\S+ \S+|0 B) +([+-]\S+ \S+|0 B) +([\d,]+) +([\d,]+) +(\d+)  (\S.*)$")
ENDED = re.compile(r"^ *([+-]\S+ \S+|0 B) +([\d,]+)  +\[(\d+) ended\]$")


def row(lines, name):
    """[NET, GROWTH/s, ALLOCS/s, ALLOCATIONS, TID] of a thread in a wide table, None: it is not there."""
    for line in lines:
        if (found := ROW.match(line)) and found[6] == name:
            return list(found.groups()[:5])
    return None


def names(lines):
    return [found[6] for line in lines if (found := ROW.match(line))]


def ended(lines):
    """[(NET, ALLOCATIONS, how many)] of the row of those that have ended."""
    return [found.groups() for found in map(ENDED.match, lines) if found]


def has(name, net, allocations):
    return lambda lines: (found := row(lines, name)) and (found[0], found[3]) == (net, allocations) and found


@pytest.fixture
def threads(life, out):  # noqa: F811
    with recorded(life("top_threads.c"), out, arguments=["3"]) as running:
        yield running


def threads_shown(terminal):
    terminal.keys("t")
    terminal.wait(lambda lines: "threads by allocations/s" in lines[1] and lines[2].endswith("THREAD"))


def test_each_thread_has_a_row(threads, out):
    threads.tell("a 0 2048")
    threads.tell("a 2 1024")
    with top(out) as terminal:
        terminal.wait(lambda lines: "sites by live" in lines[1])
        assert "t threads" in terminal.lines[-1] and len(terminal.lines[-1]) <= 80
        threads_shown(terminal)
        assert "t sites" in terminal.lines[-1] and "c allocations" in terminal.lines[-1]
        assert terminal.lines[2].split() == ["NET", "GROWTH/s", "ALLOCS/s", "ALLOCATIONS", "TID", "THREAD"]
        first = terminal.wait(has("worker-0", "+2.00 MiB", "2,048"))
        other = terminal.wait(has("worker-2", "+1.00 MiB", "1,024"))
        assert row(terminal.lines, "worker-1")[::3] == ["0 B", "0"] and row(terminal.lines, "main")
        tids = {row(terminal.lines, name)[4] for name in names(terminal.lines)}
        assert len(tids) == 4 and str(threads.pid) == row(terminal.lines, "main")[4]
        # What another thread frees is not taken from whoever allocated it.
        threads.tell("f 1")
        terminal.wait(has("worker-1", "-3.00 MiB", "0"))
        assert row(terminal.lines, "worker-0")[::3] == first[::3] and row(terminal.lines, "worker-2")[::3] == other[::3]
        terminal.keys("t")
        terminal.wait(lambda lines: "sites by live" in lines[1] and lines[2].endswith("SITE"))
        terminal.keys("q")
        assert terminal.end() == 0


def test_keys_sort_the_threads(threads, out):
    threads.tell("a 1 3000")
    threads.tell("f 1")
    threads.tell("a 2 500")
    with top(out) as terminal:
        terminal.wait(lambda lines: "sites by live" in lines[1])
        threads_shown(terminal)
        terminal.keys("l")
        terminal.wait(lambda lines: "threads by net" in lines[1] and names(lines)[:1] == ["worker-2"])
        terminal.keys("c")
        terminal.wait(lambda lines: lines[1].endswith("threads by allocations") and names(lines)[:1] == ["worker-1"])
        terminal.keys("d")  # of sites only
        terminal.keys("a")
        terminal.wait(lambda lines: names(lines)[:1] == ["worker-0"], meanwhile=lambda: threads.tell("a 0 10"))
        assert "threads by allocations/s" in terminal.lines[1]
        terminal.keys("g")
        terminal.wait(lambda lines: names(lines)[:1] == ["worker-0"] and row(lines, "worker-0")[1].startswith("+"),
                      meanwhile=lambda: threads.tell("a 0 100"))  # fmt: skip
        assert "threads by growth" in terminal.lines[1]
        terminal.keys("t")
        terminal.wait(lambda lines: "sites by live" in lines[1])  # each table keeps its order
        terminal.keys("t")
        terminal.wait(lambda lines: "threads by growth" in lines[1])


def test_threads_that_ended_are_one_row(threads, out):
    threads.tell("a 0 1024")
    threads.tell("a 1 1024")
    with top(out) as terminal:
        terminal.wait(lambda lines: "sites by live" in lines[1])
        threads_shown(terminal)
        terminal.wait(lambda lines: row(lines, "worker-0") and row(lines, "worker-1"))
        assert not ended(terminal.lines)
        threads.tell("e 0")
        threads.tell("e 1")
        threads.tell("a 2 1")
        terminal.wait(lambda lines: ("+2.00 MiB", "2,048", "2") in ended(lines))
        assert len(ended(terminal.lines)) == 1
        assert sorted(names(terminal.lines)) == ["main", "worker-2"]


def test_freeze_holds_the_threads(threads, out):
    with top(out) as terminal:
        terminal.wait(lambda lines: "sites by live" in lines[1])
        threads_shown(terminal)
        terminal.keys(" ")
        terminal.wait(lambda lines: "FROZEN" in lines[-1])
        before = terminal.lines[:-1]
        threads.tell("a 0 1024")
        terminal.keys("t")
        terminal.wait(lambda lines: lines[2].endswith("SITE"))
        terminal.keys("t")
        terminal.wait(lambda lines: lines[2].endswith("THREAD"))
        assert terminal.lines[:-1] == before
        terminal.keys(" ")
        terminal.wait(has("worker-0", "+1.00 MiB", "1,024"))


def test_two_hundred_threads_fit_any_window(life, out):  # noqa: F811
    with recorded(life("top_threads.c"), out, arguments=["200"]) as threads:
        for number in range(200):
            threads.tell(f"a {number} {number + 300}")  # main made some 201 blocks
        with top(out) as terminal:
            terminal.wait(lambda lines: "sites by live" in lines[1])
            threads_shown(terminal)
            terminal.keys("c")
            terminal.wait(lambda lines: names(lines)[:2] == ["worker-199", "worker-198"])
            assert "201 threads" in terminal.lines[1]
            assert all(len(line) <= 80 for line in terminal.lines)
            seen, left = [], 201
            while True:
                terminal.wait(lambda lines, known=tuple(seen): names(lines)[:1] and names(lines)[0] not in known)
                found = names(terminal.lines)
                seen += found
                left -= len(found)
                if not left:
                    break
                assert terminal.lines[-2] == f"... and {left} more (down, PgDn)", terminal.text
                terminal.keys("\x1b[6~")  # PgDn
            assert sorted(seen) == sorted(["main", *(f"worker-{number}" for number in range(200))])
            terminal.resize(40, 10)
            terminal.keys("\x1bOH")  # Home
            terminal.wait(lambda lines: "and 196 more" in lines[-2])
            assert terminal.lines[2].split() == ["NET", "ALLOCS/s", "THREAD"]
            assert all(len(line) <= 40 for line in terminal.lines)


def test_the_plain_table_has_the_threads_too(threads, out):
    threads.tell("a 1 1024")
    lines = command("top", out).stdout.decode().splitlines()
    heading = [line.split()[-2:] for line in lines].index(["TID", "THREAD"])
    assert lines[heading - 1] == "" and row(lines[heading:], "worker-1")[::3] == ["+1.00 MiB", "1,024"]
    assert sorted(names(lines[heading:])) == ["main", "worker-0", "worker-1", "worker-2"]


def test_a_killed_process_leaves_its_threads(life, out):  # noqa: F811
    """A checkpoint has them, and so the report of who was killed."""
    running = Program(life("top_threads.c"), out, arguments=["3"])
    try:
        running.tell("a 1 1024")
        assert "worker-1" in command("top", out).stdout.decode()  # asks for a checkpoint
        os.kill(running.pid, signal.SIGKILL)
        running.run.wait(20)
    finally:
        running.run.kill()
        running.run.wait()
    (report,) = read_reports(out)
    found = {thread["name"]: thread["allocations"] for thread in report["threads"]}
    assert report["reason"] == "killed" and found["worker-1"] == 1024 and "main" in found
