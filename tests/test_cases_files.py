"""Cases F: files, reports, command line."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import heaptide_run
import program_build
from conftest import CASES
from heaptide_run import execute, read_reports
from test_cases_start import leaked

COMMAND = heaptide_run.COMMAND


def programs_in(folder, *names):
    """Copies of built cases, where a script expects them."""
    folder.mkdir()
    for name in names:
        program = program_build.build(CASES / name, flags=("-pthread",))
        shutil.copy2(program, folder / program.name)
    return folder


@pytest.mark.heavy
def test_67_limits(tmp_path):
    """Every limit: the statuses are those of the bare run."""
    script = ["bash", CASES / "limits.sh"]
    names = ("stacks.c", "ways_out.c")
    bare = execute(script, cwd=programs_in(tmp_path / "bare", *names), env={"HEAPTIDE": None})
    environment = {"HEAPTIDE": f"{COMMAND} run -q --"}
    run = execute(script, cwd=programs_in(tmp_path / "traced", *names), env=environment, timeout=120)
    assert run.stdout == bare.stdout, f"bare:\n{bare.stdout.decode()}\n{run.describe()}"
    assert not [line for line in run.stderr.splitlines() if "core dumped" in line]


@pytest.mark.heavy
def test_67_70_output_folders(tmp_path):
    """A folder that cannot be made is refused with 125, whatever can be used is used, and a second run with
    --overwrite leaves nothing of the first, longer one."""
    place = programs_in(tmp_path / "place", "stacks.c", "stale.c")
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nexec {COMMAND} run -q --overwrite --out "$@"\n')
    wrapper.chmod(0o755)
    run = execute(["bash", CASES / "outdir.sh"], cwd=place, env={"HEAPTIDE_OUT": wrapper}, timeout=120)
    statuses = dict(line.split("] rc=") for line in run.stdout.decode().splitlines() if line.startswith("out=["))
    statuses = {key.removeprefix("out=["): int(value) for key, value in statuses.items()}
    writable = 0 if os.getuid() == 0 else 125
    assert statuses == {
        "ro/x": writable,
        "plainfile/x": 125,
        "/proc/self/x": 125,
        "/dev/full": 125,
        "": 125,
        "d" * 300: 125,
        "relative/new/deep": 0,
    }, run.describe()
    if b"tmpfs full" in run.stdout:
        assert b"tmpfs full rc=0\n" in run.stdout, run.describe()
    (report,) = read_reports(place / "same")
    assert leaked(report) == {("stale.c", 3): (10000, 1)}


@pytest.mark.heavy
def test_69_fuzzed_reports(tmp_path, case, out):
    """Cut and damaged files: the reader ends by itself, with 2."""
    heaptide_run.traced([case("all_api.c")], out=out, options=["-q"])
    (good,) = out.glob("*.bin")
    wrapper = tmp_path / "read_one"
    wrapper.write_text(
        f'#!/bin/sh\nrm -rf one; mkdir one; cp "$1" one/heaptide.1.bin\n{COMMAND} report one\nstatus=$?\n'
        '[ "$1" = twice.bin ] || [ $status = 2 ] || echo "status $status" >> odd\nexit $status\n'
    )
    wrapper.chmod(0o755)
    run = execute(["bash", CASES / "fuzz_report.sh", good], cwd=tmp_path, env={"REPORT": wrapper}, timeout=250)
    assert run.stdout == b"two files glued rc=2\n", run.describe()
    assert not (tmp_path / "odd").exists(), (tmp_path / "odd").read_text()


def test_71_file_size_follows_the_programs_shape(case, tmp_path):
    """A hundred times the events, the same file."""
    sizes = []
    for rounds in ("20", "2000"):
        out = tmp_path / rounds
        heaptide_run.traced([case("churn.c"), rounds], out=out, options=["-q"])
        sizes.append(sum(path.stat().st_size for path in out.glob("*.bin")))
    assert sizes[1] < sizes[0] * 1.5 + 4096, sizes


@pytest.mark.heavy
def test_71_millions_of_live_blocks(case, out):
    run = heaptide_run.beside([case("churn.c"), "1", "2000000"], out=out)
    report = run.report()
    assert report["summary"]["live_bytes"] == 2_000_000 * 16 + 2_000_001 * 8
    assert leaked(report) == {}
    assert sum(path.stat().st_size for path in out.glob("*.bin")) < 1 << 20


def test_73_piped_output_is_the_programs_alone(tmp_path, out):
    data = os.urandom(3_000_000)
    (tmp_path / "big").write_bytes(data)
    script = f"{COMMAND} run --out {out} -- cat {tmp_path}/big 2>/dev/null | md5sum; md5sum < {tmp_path}/big"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, timeout=60)
    first, second = done.stdout.splitlines()
    assert first == second


def test_73_json_goes_through_a_parser(out, planted):
    heaptide_run.traced([planted("two_leaks.c")], out=out)
    done = subprocess.run(
        ["/bin/bash", "-c", f"{COMMAND} report {out} --json | python3 -m json.tool --json-lines"],
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0 and done.stderr == b"" and b'"heaptide-report/1"' in done.stdout


def test_73_killed_by_nine(out):
    run = heaptide_run.traced(["/bin/sh", "-c", "kill -9 $$"], out=out)
    assert run.status == -9


def test_reports_of_one_folder_belong_together(tmp_path, planted):
    """Two runs at the same time into two folders do not mix."""
    outs = [tmp_path / "one", tmp_path / "two"]
    commands = [
        subprocess.Popen([COMMAND, "run", "-q", "--out", out, "--", planted("growth.c"), "flat", "0.5"]) for out in outs
    ]
    assert [process.wait(30) for process in commands] == [0, 0]
    pids = [read_reports(out)[0]["pid"] for out in outs]
    assert len(set(pids)) == 2 and all(len(list(Path(out).iterdir())) == 1 for out in outs)
