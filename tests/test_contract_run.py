"""`heaptide run`: statuses, options, what it writes where."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import heaptide_run
from heaptide_run import command, execute

SIZE = r"[\d.]+ ([KMGT]i)?B"
DOING_NOTHING = ["/bin/true"]


def shell(out, script, *options, **how):
    return heaptide_run.traced(["/bin/sh", "-c", script], out=out, options=options, **how)


# --- exit statuses


@pytest.mark.parametrize("status", [0, 1, 7, 42, 125, 255])
def test_status_is_the_programs(status, out):
    assert shell(out, f"exit {status}").status == status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_death_by_signal_is_passed_on(number, out):
    assert shell(out, f"kill -{number.value} $$").status == -number


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE])
def test_crash_is_passed_on(number, out):
    assert shell(out, f"ulimit -c 0; kill -{number.value} $$").status == -number


def test_program_not_found(out):
    run = command("run", "--out", out, "--", "no-such-program-anywhere")
    assert run.status == 127 and "no-such-program-anywhere" in run.stderr


def test_program_path_not_found(out, tmp_path):
    assert command("run", "--out", out, "--", tmp_path / "nothing-here").status == 127


def test_program_cannot_be_executed(out, tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("not a program")
    assert command("run", "--out", out, "--", plain).status == 126
    assert command("run", "--out", tmp_path / "other", "--", tmp_path).status == 126, "a folder"


def test_script_without_hash_bang_runs_as_under_a_shell(out, tmp_path):
    """execvp hands a file without a known format to /bin/sh; so does `heaptide run`."""
    script = tmp_path / "script"
    script.write_text("echo hello\nexit 3\n")
    script.chmod(0o755)
    run = heaptide_run.traced([script], out=out)
    assert (run.status, run.stdout) == (3, b"hello\n"), run.describe()


def test_no_program_at_all():
    run = command("run")
    assert run.status == 125 and len(run.stderr.splitlines()) == 1, run.describe()


# --- the program's own streams, environment and place


def test_streams_are_the_programs(out, tmp_path):
    given = bytes(range(256)) * 5000
    (tmp_path / "given").write_bytes(given)
    with open(tmp_path / "given", "rb") as stdin:
        run = shell(out, "cat; echo words >&2", stdin=stdin)
    assert run.stdout == given
    assert run.program_stderr == ["words"]


def test_environment_and_folder_are_the_programs(out, tmp_path):
    """The program sees the same environment but for what injection needs, and the same folder."""
    script = "import os, sys; print(sorted(os.environ.items()), os.getcwd(), sys.argv)"
    bare = execute([sys.executable, "-c", script, "a b", ""], cwd=tmp_path)
    run = heaptide_run.traced([sys.executable, "-c", script, "a b", ""], out=out, cwd=tmp_path)
    added = rb"\('(LD_PRELOAD|HEAPTIDE_[A-Z_]*)', '[^']*'\)(, )?"
    assert re.sub(added, b"", run.stdout) == re.sub(added, b"", bare.stdout)


def test_own_preload_is_kept(out, tmp_path):
    """A library that the user preloads stays, in front or behind."""
    source = tmp_path / "mine.c"
    source.write_text("int heaptide_test_mine(void) { return 1; }\n")
    library = tmp_path / "mine.so"
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library], check=True)
    run = shell(out, "cat /proc/self/maps", env={"LD_PRELOAD": str(library)})
    assert str(library).encode() in run.stdout and b"heaptide" in run.stdout


def test_no_descriptor_stays_open_in_the_program(out):
    listing = "ls -l /proc/self/fd | sed 's/.* -> //; s/[0-9]//g' | sort"
    bare = execute(["/bin/sh", "-c", listing])
    assert shell(out, listing).stdout.count(b"\n") == bare.stdout.count(b"\n")


# --- where reports go


def test_default_folder_is_named_after_program_and_pid(planted, tmp_path):
    run = command("run", planted("two_leaks.c"), cwd=tmp_path)
    folders = list(tmp_path.iterdir())
    assert run.status == 0 and len(folders) == 1, run.describe()
    assert re.fullmatch(r"heaptide\.two_leaks\.\d+", folders[0].name)
    pid = folders[0].name.split(".")[-1]
    assert [path.name for path in folders[0].iterdir()] == [f"heaptide.{pid}.bin"]
    assert folders[0].name in run.stderr


def test_double_dash_is_optional(planted, out):
    assert command("run", "--out", out, planted("two_leaks.c")).status == 0
    assert len(heaptide_run.read_reports(out)) == 1


def test_options_after_the_program_are_its_own(out):
    run = command("run", "--out", out, "/bin/echo", "--out", "elsewhere", "-q")
    assert run.stdout == b"--out elsewhere -q\n"


def test_folder_with_reports_is_refused(planted, out):
    program = planted("two_leaks.c")
    heaptide_run.traced([program], out=out)
    before = sorted((path.name, path.read_bytes()) for path in out.iterdir())
    again = heaptide_run.traced(["/bin/sh", "-c", "echo ran"], out=out)
    assert again.status == 125 and again.stdout == b"", "the program must not have started"
    assert str(out) in again.stderr and "--overwrite" in again.stderr
    assert sorted((path.name, path.read_bytes()) for path in out.iterdir()) == before


def test_overwrite_replaces_the_reports(planted, out):
    heaptide_run.traced([planted("two_leaks.c")], out=out)
    run = heaptide_run.traced([planted("direct_one.c")], out=out, options=["--overwrite"])
    reports = run.reports()
    assert [Path(report["exe"]).name for report in reports] == ["direct_one"], "the first run's reports must be gone"


def test_an_empty_folder_is_taken(planted, out):
    out.mkdir()
    assert heaptide_run.traced([planted("two_leaks.c")], out=out).status == 0
    assert len(heaptide_run.read_reports(out)) == 1


def test_deep_relative_folder_is_made(planted, tmp_path):
    run = command("run", "--out", "deep/er/folder", "--", planted("two_leaks.c"), cwd=tmp_path)
    assert run.status == 0 and list((tmp_path / "deep/er/folder").glob("*.bin")), run.describe()


def test_relative_folder_survives_a_change_of_folder(tmp_path):
    run = command("run", "--out", "here", "--", "/bin/sh", "-c", "cd / && exec /bin/true", cwd=tmp_path)
    assert run.status == 0
    reports = heaptide_run.read_reports(tmp_path / "here")
    assert reports[-1]["reason"] == "exit" and Path(reports[-1]["exe"]).name == "true"


def test_no_temporary_file_is_left(planted, out):
    heaptide_run.traced([planted("fork_inherited.c")], out=out)
    assert all(re.fullmatch(r"heaptide\.\d+(-\d+)?\.bin", path.name) for path in out.iterdir()), list(out.iterdir())


# --- what it says


def test_summary_line(planted, out):
    run = heaptide_run.traced([planted("two_leaks.c")], out=out)
    assert len(run.own_stderr) == 1 and run.program_stderr == [], run.describe()
    line = run.own_stderr[0]
    pattern = (
        rf"heaptide: 1 process, leaked (?P<leaked>{SIZE}), peak (?P<peak>{SIZE}) -> \S+ \(heaptide report( \S+)?\)"
    )
    said = re.fullmatch(pattern, line)
    assert said, line
    assert said["leaked"] in ("1.10 KiB", "1.1 KiB", "1130 B"), line
    assert said["peak"] in ("5.99 KiB", "6130 B"), line


def test_summary_line_counts_processes(planted, out):
    assert re.match(
        r"heaptide: 2 processes, ", heaptide_run.traced([planted("fork_inherited.c")], out=out).own_stderr[-1]
    )


@pytest.mark.parametrize("words", [[], ["--"]], ids=["system", "with--"])
def test_summary_line_leaves_helpers_out(words, case, planted, out, tmp_path):
    """What Mojo's runtime starts for itself is neither counted nor summed up: a shell and what that runs."""
    check = tmp_path / "amd-smi"
    check.write_text(f"#!/bin/sh\n{planted('direct_many.c')}\nexit 0\n")
    check.chmod(0o755)
    program = case("mojo_helper.c")
    command = [program, program.with_name("libAsyncRTRuntimeGlobals.so"), *words]
    run = heaptide_run.traced(command, out=out, env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert run.status == 0, run.describe()
    reports = run.reports()
    helpers = [report for report in reports if any("amd-smi" in word for word in report["argv"])]
    assert len(helpers) >= 2 and sum(report["summary"]["leaked_direct_bytes"] for report in reports) > 500_000
    assert re.match(r"heaptide: 2 processes, leaked 1\.46 KiB, peak \d\.\d+ KiB ", run.own_stderr[-1]), run.describe()


def test_quiet_says_nothing(planted, out):
    run = heaptide_run.traced([planted("two_leaks.c")], out=out, options=["-q"])
    assert run.stderr == ""


# --- --fail-on


@pytest.mark.parametrize(("fail_on", "status"), [("any", 1), ("leaks", 1), ("growth", 0), ("none", 0)])
def test_fail_on(fail_on, status, planted, out):
    run = heaptide_run.traced([planted("two_leaks.c")], out=out, options=["--fail-on", fail_on])
    assert run.status == status, run.describe()


def test_without_fail_on_leaks_change_nothing(planted, out):
    assert heaptide_run.traced([planted("two_leaks.c")], out=out).status == 0


def test_fail_on_leaves_a_failed_program_its_status(planted, out):
    run = heaptide_run.traced([planted("exit_status.c")], out=out, options=["--fail-on", "leaks"])
    assert run.status == 42


def test_fail_on_with_a_clean_program(planted, out):
    assert heaptide_run.traced([planted("constructor.c")], out=out, options=["--fail-on", "any"]).status == 0


# --- depth, sampling, children


def leaked_stack(report, function):
    return next(row["stack"] for row in report["leaks"] if row["site"]["function"] == function)


@pytest.mark.parametrize("how", ["option", "environment"])
def test_depth(how, planted, out):
    options, env = (["--depth", "5"], {}) if how == "option" else ([], {"HEAPTIDE_DEPTH": "5"})
    report = heaptide_run.traced([planted("deep_recursion.c")], out=out, options=options, env=env).report()
    stack = leaked_stack(report, "dive")
    assert stack[-1]["function"] == "[truncated]" and 5 <= len(stack) <= 6, [frame["function"] for frame in stack]


def test_default_depth_is_64(planted, out):
    stack = leaked_stack(heaptide_run.traced([planted("deep_recursion.c")], out=out).report(), "dive")
    assert 64 <= len(stack) <= 65


def test_large_depth_keeps_the_whole_stack(planted, out):
    report = heaptide_run.traced([planted("deep_recursion.c")], out=out, options=["--depth", "300"]).report()
    functions = [frame["function"] for frame in leaked_stack(report, "dive")]
    assert functions.count("dive") == 201 and "main" in functions


@pytest.mark.parametrize("way", ["setrlimit", "prlimit", "ulimit"])
@pytest.mark.parametrize("limit", ["AS", "DATA"])
def test_limits_of_memory_are_the_programs(limit, way, out):
    """What heaptide reserves is far more than the program has; it must not count."""
    mib = 1 << 20
    set_it = {
        "setrlimit": f"resource.setrlimit(resource.RLIMIT_{limit}, (256 * {mib}, -1))",
        "prlimit": f"resource.prlimit(0, resource.RLIMIT_{limit}, (256 * {mib}, -1))",
        "ulimit": "",
    }[way]
    take = f"block = bytearray(128 * {mib})\ntry: bytearray(256 * {mib})\nexcept MemoryError: print(len(block))"
    script = [sys.executable, "-c", f"import resource\n{set_it}\n{take}"]
    if way == "ulimit":
        letter = {"AS": "v", "DATA": "d"}[limit]
        script = ["/bin/bash", "-c", f'ulimit -{letter} {256 * 1024} && exec "$@"', "bash", *script]
    run = heaptide_run.beside(script, out=out, options=["--no-children"])
    assert run.stdout == f"{128 * mib}\n".encode(), run.describe()
    assert run.report()["summary"]["peak_bytes"] > 128 * mib


def test_every_sets_the_sampling_period(planted, out):
    report = heaptide_run.traced([planted("growth.c"), "flat", "1"], out=out, options=["--every", "10"]).report()
    assert 60 < len(report["timeline"]["seconds"]) < 150


def test_default_sampling_period_is_100_ms(planted, out):
    report = heaptide_run.traced([planted("growth.c"), "flat", "1"], out=out).report()
    assert 8 <= len(report["timeline"]["seconds"]) <= 14


def test_sample_zero_is_exact(planted, out):
    report = heaptide_run.traced([planted("direct_many.c")], out=out, options=["--sample", "0"]).report()
    assert not report.get("estimated", False)
    assert report["summary"]["live_bytes"] == 500500


def test_children_have_reports_of_their_own(planted, out):
    program = planted("two_leaks.c")
    reports = shell(out, f"{program}; {program}; exit 0").reports()
    assert sorted(Path(report["exe"]).name for report in reports if not report["main"]) == ["two_leaks", "two_leaks"]
    main = [report for report in reports if report["main"]]
    assert len(main) == 1 and all(report["ppid"] == main[0]["pid"] for report in reports if not report["main"])


def test_no_children(planted, out):
    reports = shell(out, f"{planted('two_leaks.c')}; exit 0", "--no-children").reports()
    assert len(reports) == 1 and reports[0]["main"]


def test_no_children_leaves_forks_out(planted, out):
    reports = heaptide_run.traced([planted("fork_inherited.c")], out=out, options=["--no-children"]).reports()
    assert len(reports) == 1 and reports[0]["summary"]["leaked_direct_bytes"] == 100


def test_only(planted, out):
    script = f"{planted('two_leaks.c')}; {planted('direct_one.c')}; {planted('sizes.c')}; exit 0"
    reports = shell(out, script, "--only", "two_leaks,sizes").reports()
    assert sorted(Path(report["exe"]).name for report in reports) == ["sizes", "two_leaks"]


def test_exec_is_followed_with_an_empty_environment(planted, out):
    reports = shell(out, f"exec env -i {planted('two_leaks.c')}").reports()
    last = reports[-1]
    assert Path(last["exe"]).name == "two_leaks" and last["main"] and last["summary"]["leaked_direct_bytes"] == 1100
    assert {report["pid"] for report in reports} == {last["pid"]}


def test_failed_exec_leaves_no_report(out, tmp_path):
    script = f"import os\ntry: os.execv({str(tmp_path / 'none')!r}, ['x'])\nexcept OSError: print('went on')"
    run = heaptide_run.traced([sys.executable, "-c", script], out=out)
    assert run.stdout == b"went on\n"
    assert [report["reason"] for report in run.reports()] == ["exit"]


def test_output_to_a_closed_stream(planted, out):
    run = execute(["/bin/sh", "-c", f"{heaptide_run.COMMAND} run --out {out} -- {planted('two_leaks.c')} >&- 2>&- <&-"])
    assert run.status == 0 and len(heaptide_run.read_reports(out)) == 1


def test_reports_do_not_depend_on_the_terminal_size_or_locale(planted, out):
    heaptide_run.traced([planted("two_leaks.c")], out=out)
    plain = command("report", out, env={"LC_ALL": "C"}).stdout
    assert plain == command("report", out, env={"LC_ALL": "de_DE.UTF-8", "COLUMNS": "20"}).stdout


def test_peak_rss_is_plausible(planted, out):
    summary = heaptide_run.traced([planted("growth.c"), "rising", "0.2"], out=out).report()["summary"]
    assert summary["peak_rss_bytes"] is None or summary["peak_rss_bytes"] > os.sysconf("SC_PAGESIZE") * 100


def test_closing_line_agrees_with_the_summary_under_py(tmp_path):
    """What Python's objects leak stands in the python list, and neither in the summary nor in the closing line."""
    script = "import gc; gc.disable()\nfor _ in range(500): a = []; a.append(a)\n"
    run = heaptide_run.traced([sys.executable, "-c", script], out=tmp_path / "out", options=["--py"])
    report = run.report(*heaptide_run.EVERY_ROW)
    assert sum(row["live_blocks"] for row in report["python"] if row["leaked"]) >= 500
    summary = report["summary"]
    assert summary["leaked_direct_bytes"] + summary["leaked_indirect_bytes"] == 0
    assert "1 process, leaked 0 B, " in run.stderr, run.describe()


def test_library_of_a_relative_name_is_named_after_a_change_of_folder(tmp_path):
    (tmp_path / "lib.c").write_text("#include <stdlib.h>\nvoid lose(void) { *(volatile char *)malloc(777) = 1; }\n")
    (tmp_path / "main.c").write_text(
        "#include <dlfcn.h>\n#include <unistd.h>\nint main(void) {\n"
        '  void (*lose)(void) = dlsym(dlopen("./liblose.so", RTLD_NOW), "lose");\n'
        '  if (chdir("/") != 0) return 1;\n  lose();\n  return 0;\n}\n'
    )
    subprocess.run(["gcc", "-g", "-shared", "-fPIC", "lib.c", "-o", "liblose.so"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-g", "main.c", "-o", "main"], cwd=tmp_path, check=True)
    (row,) = heaptide_run.traced(["./main"], out=tmp_path / "out", cwd=tmp_path).report()["leaks"]
    assert row["site"]["function"] == "lose" and row["site"]["module"] == str(tmp_path / "liblose.so")


def test_closing_line_knows_builtin_suppressions(case, tmp_path):
    """What the report suppresses by a function's name is not in the closing line either."""
    run = heaptide_run.traced([case("known_residue.c")], out=tmp_path / "out")
    report = run.report()
    assert [row["suppressed"] for row in report["leaks"]] == [True, False]
    assert report["summary"]["leaked_direct_bytes"] == 100
    assert "1 process, leaked 100 B, " in run.stderr, run.describe()
