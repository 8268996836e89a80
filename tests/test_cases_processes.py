"""Cases B: fork, exec, exit and signals."""

import signal
import sys
from pathlib import Path

import pytest

from conftest import CASES
from heaptide_run import beside
from test_cases_start import leaked, sound_report

ROUNDS = range(5)


@pytest.mark.parametrize("round_number", ROUNDS)
def test_15_fork_beside_busy_threads(round_number, case, out):
    """300 forks a round; a child that inherits a held lock dies of SIGALRM and is counted in the status."""
    assert beside([case("fork_mt.c", flags=("-pthread",))], out=out).status == 0


def test_16_forked_children_report_only_their_own(case, out):
    run = beside([case("fork_exit.c")], out=out)
    reports = run.reports()
    direct = {}
    for report in reports:
        direct.setdefault((report["main"], Path(report["exe"]).name, report["reason"]), []).append(
            report["summary"]["leaked_direct_bytes"]
        )
    assert direct == {
        (True, "fork_exit", "exit"): [1000],
        (False, "fork_exit", "exit"): [2000, 2000, 2000],
        (False, "true", "exit"): [0],
    }


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_18_multiprocessing(method, out):
    """Every way of starting workers, their ends by SIGTERM, os._exit and wiped environments included."""
    command = [sys.executable, CASES / "py_mp.py", method]
    run = beside(command, out=out, options=["--py"], alike=bytes.isspace)  # how many workers got work is chance
    assert run.status == 0 and 2 <= int(run.stdout) <= 4
    workers = [report for report in run.reports() if report["summary"]["peak_bytes"] >= 8 << 20]
    assert len(workers) >= 4, "each worker held 8 MiB, and so did two helpers"


def test_19_vfork_and_posix_spawn(case, out):
    run = beside([case("spawn.c", flags=("-pthread",))], out=out)
    assert run.status == 0
    main = [report for report in run.reports() if report["main"]]
    assert len(main) == 1 and main[0]["reason"] == "exit", "a vforked child wrote for its parent"


def test_20_child_with_a_wiped_environment(planted, out):
    script = f"import subprocess; subprocess.run([{str(planted('two_leaks.c'))!r}], env={{}})"
    run = beside([sys.executable, "-c", script], out=out)
    child = [report for report in run.reports() if Path(report["exe"]).name == "two_leaks"]
    assert len(child) == 1 and child[0]["summary"]["leaked_direct_bytes"] == 1100


WAYS = {
    "return": "exit",
    "exit": "exit",
    "_exit": "_exit",
    "quick": "_exit",
    "term": "signal",
    "pthread": "exit",
    "thread_exit": "exit",
}


@pytest.mark.parametrize("way", WAYS)
def test_21_every_way_out(way, case, out):
    run = beside([case("ways_out.c", flags=("-pthread",)), way], out=out, options=["-q"])
    assert run.status == (-signal.SIGTERM if way == "term" else 0)
    report = run.report()
    assert (report["reason"], report["signal"]) == (WAYS[way], "SIGTERM" if way == "term" else None)
    assert leaked(report) == {("ways_out.c", 9): (4096, 1)}


@pytest.mark.parametrize("way", ["abort", "segv", "kill"])
def test_21_deaths_are_the_programs(way, case, out):
    """The wait status; reports of crashes belong to the issue on processes."""
    run = beside([case("ways_out.c", flags=("-pthread",)), way], out=out)
    assert run.status == {"abort": -signal.SIGABRT, "segv": -signal.SIGSEGV, "kill": -signal.SIGKILL}[way]


def test_21_exec(case, out):
    run = beside([case("ways_out.c", flags=("-pthread",)), "exec"], out=out)
    reports = run.reports()
    assert [report["reason"] for report in reports] == ["exec", "exit"]
    assert leaked(reports[0]) == {("ways_out.c", 9): (4096, 1)}
    assert Path(reports[1]["exe"]).name == "true" and all(report["main"] for report in reports)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_21_own_handler_is_left_alone(name, out):
    script = (
        f"import signal, os, sys\nsignal.signal(signal.{name}, lambda *a: (print('handled'), sys.exit(3)))\n"
        f"os.kill(os.getpid(), signal.{name})\n"
    )
    run = beside([sys.executable, "-c", script], out=out)
    assert (run.status, run.stdout) == (3, b"handled\n") and run.report()["reason"] == "exit"


def test_21_ignored_signal_stays_ignored(out):
    run = beside(["/bin/sh", "-c", "trap '' TERM; kill -TERM $$; echo on; exit 4"], out=out)
    assert (run.status, run.stdout) == (4, b"on\n")


def test_23_timer_without_restart(case, out):
    run = beside([case("sig_mmap.c")], out=out)
    assert leaked(sound_report(run)) == {("sig_mmap.c", 15): (16000, 1000)}


@pytest.mark.skip(reason="snapshots on request belong to the issue on processes")
def test_25_snapshot_by_signal():
    raise AssertionError


def test_26_thread_exit_destructors(case, out):
    run = beside([case("tls_dtor.cc", flags=("-pthread",))], out=out)
    report = sound_report(run)
    assert leaked(report) == {}
    lines = {10: 0}  # the key destructor's malloc
    for row in report["hotspots"]:
        if row["site"]["line"] in lines and Path(row["site"]["file"] or "?").name == "tls_dtor.cc":
            lines[row["site"]["line"]] += row["allocations"]
    assert lines == {10: 1500}, "500 threads, three more rounds each"


@pytest.mark.parametrize("round_number", range(10))
def test_27_main_returns_beside_busy_threads(round_number, case, out):
    run = beside([case("exit_busy.c", flags=("-pthread",))], out=out)
    assert run.status == 0 and run.seconds < 4


def test_29_plugin_that_prints_at_the_end(case, out):
    run = beside([case("static_printer.cc")], out=out)
    assert run.stdout == b"1000\nprinted late: 1000\nand streamed late\n"
    assert leaked(sound_report(run)) == {}


def test_30_descriptors_closed_and_reused(case, out):
    run = beside([case("fds.c")], out=out)
    assert run.status == 0, "somebody else wrote into the program's files"
    assert leaked(sound_report(run)) == {("fds.c", 9): (16000, 1000)}
