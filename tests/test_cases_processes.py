"""Cases B: fork, exec, exit and signals."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import CASES
from heaptide_run import EVERY_ROW, beside
from report_schema import schema_problems, total_problems
from test_cases_start import leaked, sound_report

ROUNDS = range(5)


@pytest.mark.parametrize("round_number", ROUNDS)
def test_15_fork_beside_busy_threads(round_number, case, out):
    """300 forks a round; a child that inherits a held lock dies of SIGALRM and is counted in the status."""
    assert beside([case("fork_mt.c", flags=("-pthread",))], out=out).status == 0


def test_15_fork_while_the_loader_is_locked(case, out):
    """The lock stays with a thread that the child does not have: its report asks the loader for nothing."""
    run = beside([case("fork_loader.c", flags=("-pthread",))], out=out)
    assert run.status == 0, run.describe()
    lost = [report["summary"]["leaked_direct_bytes"] for report in run.reports() if not report["main"]]
    assert lost == [1000] * 20


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
    lines = [(row["site"]["function"], row["site"]["line"]) for row in (report["peak"][0] for report in workers)]
    assert lines.count(("work", 5)) >= 3, "a Pool's worker shows its own line"


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


@pytest.fixture
def static_program(tmp_path):
    source, program = tmp_path / "empty.c", tmp_path / "static_program"
    source.write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", "-static", source, "-o", program], check=True)
    return program


def test_20_children_that_cannot_be_followed_are_named(static_program, out):
    script = (
        f"import os, subprocess\nprogram = {str(static_program)!r}\n"
        "os.waitpid(os.posix_spawn(program, [program], {}), 0)\n"
        "subprocess.run([program], env={}, start_new_session=True)\n"  # by fork and exec
        "subprocess.run(['/bin/sh', '-c', f'{program}; exec {program}'])\n"
    )
    run = beside([sys.executable, "-c", script], out=out)
    named = [line for line in run.own_stderr if "not followed" in line]
    assert len(named) == 1 and named[0].startswith(f"heaptide: 4 children not followed: {static_program}; "), named
    assert {path.suffix for path in out.iterdir()} == {".bin"}, "a mark was left behind"


@pytest.mark.parametrize("options", ["--no-children", "--only sh", "--only dash,bash", "-q"])
def test_20_children_left_out_on_purpose_are_not_named(options, static_program, out):
    run = beside(["/bin/sh", "-c", f"{static_program}; true"], out=out, options=options.split())
    assert not [line for line in run.own_stderr if "not followed" in line]
    assert {path.suffix for path in out.iterdir()} == {".bin"}


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
    assert leaked(report) == {("ways_out.c", 11): (4096, 1)}


@pytest.mark.parametrize("way", ["abort", "segv", "kill"])
def test_21_deaths_are_the_programs(way, case, out):
    """test_life.py has more on crashes, on checkpoints of killed processes and on case 25, snapshots."""
    run = beside([case("ways_out.c", flags=("-pthread",)), way], out=out)
    assert run.status == {"abort": -signal.SIGABRT, "segv": -signal.SIGSEGV, "kill": -signal.SIGKILL}[way]


def test_21_exec(case, out):
    run = beside([case("ways_out.c", flags=("-pthread",)), "exec"], out=out)
    reports = run.reports()
    assert [report["reason"] for report in reports] == ["exec", "exit"]
    assert leaked(reports[0]) == {("ways_out.c", 11): (4096, 1)}
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


def test_21_a_real_time_signal_has_a_name(out):
    script = "import os, signal\nos.kill(os.getpid(), signal.SIGRTMIN + 3)"
    run = beside([sys.executable, "-c", script], out=out)
    assert run.status == -(signal.SIGRTMIN + 3)
    assert "SIGRTMIN+3" in run.own_stderr[-1], run.describe()


def test_23_timer_without_restart(case, out):
    run = beside([case("sig_mmap.c")], out=out)
    assert leaked(sound_report(run)) == {("sig_mmap.c", 15): (16000, 1000)}


def test_23_handler_inside_a_hook_of_a_forked_child(case, out):
    """What a handler maps while its thread is inside heaptide is the child's own, with a site of the child's."""
    run = beside([case("sig_fork.c")], out=out)
    reports = run.reports(*EVERY_ROW)
    assert len(reports) == 2 and run.status == 0
    for report in reports:
        assert schema_problems(report) + total_problems(report) == []
        assert report["summary"]["by_kind"]["mmap"]["live_bytes"] == 400 * 8192
        assert any("signal handlers" in note for note in report["notes"]), "no signal came inside a hook"


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
    assert run.status == 0 and run.seconds < 20


def test_29_plugin_that_prints_at_the_end(case, out):
    run = beside([case("static_printer.cc")], out=out)
    assert run.stdout == b"1000\nprinted late: 1000\nand streamed late\n"
    assert leaked(sound_report(run)) == {}


def test_30_descriptors_closed_and_reused(case, out):
    run = beside([case("fds.c")], out=out)
    assert run.status == 0, "somebody else wrote into the program's files"
    assert leaked(sound_report(run)) == {("fds.c", 9): (16000, 1000)}


@pytest.mark.parametrize("most", ["3", "64"])
def test_30_no_descriptor_is_left(most, case, out):
    run = beside([case("no_descriptors.c"), most], out=out)
    assert run.status == 5
    assert leaked(run.report()) == {("no_descriptors.c", 7): (1234, 1)}
