"""Cases D: the leak scan."""

import subprocess
from pathlib import Path

import pytest

import expectations
import program_build
from conftest import CASES, PLANTED
from heaptide_run import Stuck, beside, execute, traced
from test_cases_start import leaked, sound_report


def test_46_stopping_the_world_is_refused(case, out):
    report = sound_report(beside([case("nosys.c")], out=out))
    assert leaked(report) == {("nosys.c", 20): (1000, 1)}
    assert report["summary"]["live_bytes"] == 3000


@pytest.fixture(scope="module")
def dl_lock_bare():
    """How the program ends bare. It relies on the loader's lock being given away in turn: with glibc 2.41 the thread
    that walks the libraries can keep everybody else out for good."""
    program = program_build.build(CASES / "dl_lock.c", flags=("-pthread", "-ldl"))
    try:
        return execute([program], timeout=30)
    except Stuck:
        pytest.skip("the bare program does not end with this libc")


@pytest.mark.parametrize("round_number", range(5))
def test_47_loader_lock_is_held(round_number, dl_lock_bare, out):
    run = beside(dl_lock_bare.argv, bare=dl_lock_bare, out=out)
    assert run.status == 0 and list(out.glob("*.bin"))


def test_48_constants_that_look_like_pointers(case, out):
    report = sound_report(beside([case("constants.c", flags=("-no-pie", "-fno-pie"))], out=out))
    assert leaked(report) == {("constants.c", 10): (100000, 1)}


def test_48_the_loaders_variables_hold_nothing(case, out):
    report = sound_report(beside([case("loader_data.c", flags=("-pthread",))], out=out))
    assert leaked(report) == {("loader_data.c", 23): (1 << 20, 1)}


def test_48_closed_pages_inside_blocks(case, out):
    report = sound_report(beside([case("protnone.c")], out=out))
    amounts = [row["direct_bytes"] + row["indirect_bytes"] for row in report["leaks"] if row["kind"] == "heap"]
    assert 777 not in amounts, "reachable through a readable page of a partly closed block"
    assert amounts == [888] or (amounts == [] and report["notes"]), (amounts, report["notes"])


@pytest.mark.parametrize("round_number", range(20))
def test_50_threads_half_born(round_number, case, out):
    report = beside([case("thread_birth.c", flags=("-pthread",))], out=out).report()
    assert leaked(report) == {}


def test_52_plugins_that_are_gone(case, out):
    libraries = {f"libp{letter}.so": [f"-DPLUG=leak_from_{letter}"] for letter in "ab"}
    program = case("plugin_gone.c", flags=("-ldl",), libraries=libraries)
    report = sound_report(beside([program], out=out, cwd=program.parent))
    found = {
        row["site"]["function"]: (row["direct_bytes"], Path(row["site"]["module"]).name) for row in report["leaks"]
    }
    assert found == {"leak_from_a": (1111, "libpa.so"), "leak_from_b": (2222, "libpb.so")}


def test_55_library_residue(case, out):
    run = beside([case("residue.cc")], out=out)
    assert run.stdout == b"1\n"
    report = run.report()
    assert leaked(report) == {}


def test_55_residue_is_not_hidden_for_good(case, out):
    """Without the built-in suppressions everything that is suppressed is shown as a leak."""
    run = beside([case("residue.cc")], out=out)
    suppressed = [row for row in run.report()["leaks"] if row["suppressed"]]
    shown = run.report("--no-builtin-suppressions")
    assert not [row for row in shown["leaks"] if row["suppressed"]]
    assert len(shown["leaks"]) >= len(suppressed)


def clang_runtime(name):
    command = [f"clang{program_build.clang_suffix()}", f"-print-file-name={name}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Path(done.stdout.strip()).parent


@pytest.mark.parametrize("options", ["detect_leaks=0", "detect_leaks=1"])
@pytest.mark.parametrize("family", ["gcc", "clang"])
def test_shared_address_sanitizer(family, options, case, out):
    """Its shadow is a mapping of 16 TB; where it finds leaks itself it ends the process without exit."""
    flags = ["-fsanitize=address"]
    if family == "clang":
        folder = clang_runtime("libclang_rt.asan-x86_64.so")
        flags += ["-shared-libsan", f"-Wl,-rpath,{folder}"]
    program = case("asan.c", family=family, flags=tuple(flags))
    run = beside([program], out=out, env={"ASAN_OPTIONS": options})
    assert leaked(run.report()) == {("asan.c", 7): (1000, 10)}


@pytest.mark.parametrize(
    "name",
    ["two_leaks", "dead_thread", "roots_global", "roots_stack_main", "roots_stack_thread", "roots_tls_main"]
    + ["roots_tls_thread", "roots_tls_library", "roots_key", "roots_register", "roots_libc", "threads_not_joined"],
)
def test_roots_without_proc(name, planted, out):
    """Modules, stacks and thread-local memory are found without /proc/self/maps and /proc/self/task."""
    program = planted(f"{name}.c")
    words = ["unshare", "-m", "/bin/sh", "-c", f"mount -t tmpfs none /proc && exec {program}"]
    probe = execute(words[:4] + ["mount -t tmpfs none /proc"])
    if probe.status != 0:
        pytest.skip(f"cannot cover /proc here: {probe.stderr.strip()}")
    run = traced(words, out=out, options=["-q"])
    report = [report for report in run.reports() if Path(report["exe"]).name == name]
    expected = expectations.read(PLANTED / f"{name}.c")
    assert len(report) == 1, run.describe()
    found = report[0]["summary"]
    assert (found["leaked_direct_bytes"], found["leaked_indirect_bytes"]) == (
        expected.direct[0],
        expected.indirect[0],
    )
    assert any("/proc" in note for note in report[0]["notes"])
