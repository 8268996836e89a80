"""Cases 87 and 88: processes that are stopped, about to end or inside the loader, and those of other users, of user
namespaces and behind mounts that allow little. life/ and cases/ hold the programs."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from heaptide_run import COMMAND, execute, read_reports
from test_attach import bare, done
from test_life import life  # noqa: F401 (a fixture)

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
CASE_87_SECONDS = 20

as_root = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root, and setpriv of util-linux"
)


@pytest.fixture
def everybodys():
    """A folder that every user sees, with heaptide in it."""
    folder = Path(tempfile.mkdtemp(prefix="heaptide-"))
    folder.chmod(0o755)
    for name in (COMMAND.name, "libheaptide.so"):
        here = next(place / name for place in (COMMAND.parent, COMMAND.parent.parent / "lib" / "heaptide")
                    if (place / name).exists())  # fmt: skip
        shutil.copy(here, folder / name)
    yield folder
    shutil.rmtree(folder)


@contextmanager
def bare_in(folder, prefix, program, *arguments):
    """A program that everybody may execute, behind `prefix`."""
    copy = folder / Path(program).name
    shutil.copy(program, copy)
    with bare([*prefix, copy, *arguments]) as process:
        yield process


def attached_and_let_go(heaptide, pid, out, *prefix):
    for words in (["attach", pid, "--out", out], ["snapshot", out], ["detach", out]):
        run = execute([*prefix, heaptide, *words])
        assert run.status == 0, run.describe()
    (report,) = read_reports(out)
    assert report["reason"] == "detach"
    return report


# ---- other users


@as_root
def test_the_folder_belongs_to_the_targets_owner(life, everybodys):  # noqa: F811
    """As under sudo: root attaches, and the process writes its own reports."""
    out = everybodys / "report"
    with bare_in(everybodys, AS_NOBODY, life("server.c"), "4") as process:
        assert attached_and_let_go(everybodys / COMMAND.name, process.pid, out)["summary"]["allocations"] > 0
        process.stdin.close()
        assert process.stdout.read() == "0\n"
    owners = {(path.stat().st_uid, path.stat().st_gid) for path in (out, *out.iterdir())}
    assert owners == {(NOBODY, NOBODY)}


@as_root
def test_a_library_in_a_folder_that_the_target_may_not_enter(life, everybodys):  # noqa: F811
    """It is handed over as memory then, as in the folder of a user under sudo."""
    private = everybodys / "private"
    private.mkdir(mode=0o700)
    for name in (COMMAND.name, "libheaptide.so"):
        shutil.move(everybodys / name, private / name)
    with bare_in(everybodys, AS_NOBODY, life("server.c"), "4") as process:
        attached_and_let_go(private / COMMAND.name, process.pid, everybodys / "report")


@as_root
def test_who_may_not_attach_is_told_the_right_and_the_command(life, everybodys):  # noqa: F811
    with bare_in(everybodys, [], life("asleep.c"), "poll") as process:
        run = execute([*AS_NOBODY, everybodys / COMMAND.name, "attach", process.pid], cwd="/tmp")
        assert run.status == 2 and len(run.own_stderr) == 1, run.describe()
        assert f"the owner of process {process.pid}" in run.stderr and "use sudo" in run.stderr
        assert process.poll() is None


@as_root
@pytest.mark.parametrize("scope", [0, 1, 2, 3])
def test_ptrace_scope(scope, life, everybodys):  # noqa: F811
    """Kernels without Yama have no such file: one stands in for it, in a mount namespace of its own, and a process that
    is not dumpable for one that may not be traced."""
    kernel = everybodys / "kernel"
    (kernel / "yama").mkdir(parents=True)
    (kernel / "yama" / "ptrace_scope").write_text(f"{scope}\n")
    mount = f"mount --bind {kernel} /proc/sys/kernel"
    probe = execute(["unshare", "-m", "/bin/sh", "-c", mount])
    if probe.status != 0:
        pytest.skip(f"nothing can be mounted here: {probe.stderr.strip()}")
    with bare_in(everybodys, AS_NOBODY, life("undumpable.c")) as process:
        attach = " ".join(map(str, [*AS_NOBODY, everybodys / COMMAND.name, "attach", process.pid]))
        run = execute(["unshare", "-m", "/bin/sh", "-c", f"{mount} && {attach}"], cwd="/tmp")
        assert process.poll() is None
    assert run.status == 2 and len(run.own_stderr) == 1, run.describe()
    if scope:
        assert f"ptrace_scope is {scope}, which lets only root attach" in run.stderr
        assert "sudo sysctl kernel.yama.ptrace_scope=0" in run.stderr
    else:
        assert "may not be attached to" in run.stderr and "SYS_PTRACE" in run.stderr


# ---- user namespaces, mounts


@as_root
@pytest.mark.parametrize(
    ("prefix", "script"),
    [
        ([*AS_NOBODY, "unshare", "-U", "-r"], 'exec "$@"'),
        (["unshare", "-m"], 'mount --bind {0} {0} && mount -o remount,bind,ro / && exec "$@"'),
        (["unshare", "-m"], 'mount -t tmpfs -o noexec tmpfs /tmp && exec "$@"'),
        (["unshare", "-m"], 'mount --bind {0}/heaptide-here {0}/heaptide-here && '
                            'mount -o remount,bind,noexec {0}/heaptide-here && exec "$@"'),
    ],
    ids=["user namespace", "read-only root", "/tmp without execution", "library without execution"],
)  # fmt: skip
def test_case_88_mounts_and_namespaces(prefix, script, life, everybodys, tmp_path):  # noqa: F811
    (everybodys / "heaptide-here").mkdir()
    for name in (COMMAND.name, "libheaptide.so"):
        shutil.copy(everybodys / name, everybodys / "heaptide-here" / name)
    place = Path(tempfile.mkdtemp(prefix="heaptide-", dir="/var/tmp"))
    place.chmod(0o755)
    try:
        words = [*prefix, "/bin/sh", "-c", script.format(everybodys), "sh"]
        probe = execute([*words, "/bin/true"])
        if probe.status != 0:
            pytest.skip(f"not allowed here: {probe.stderr.strip()}")
        shutil.copy(life("server.c"), place / "server")
        out = everybodys / "report" if "remount" in script else place / "report"
        with bare([*words, place / "server", "4"]) as process:
            attached_and_let_go(everybodys / "heaptide-here" / COMMAND.name, process.pid, out)
            process.stdin.close()
            assert process.stdout.read() == "0\n"
    finally:
        shutil.rmtree(place)


@as_root
def test_a_process_that_is_not_dumpable(life, out):  # noqa: F811
    """Its /proc is root's then; root may attach all the same."""
    with bare([life("undumpable.c")]) as process:
        attached_and_let_go(COMMAND, process.pid, out)


# ---- case 87


def test_case_87_stopped_dying_or_in_the_loader(case, tmp_path):
    """As many rounds as the time allows. Attach says in a line why not, or the process goes on as it would have; both
    in their time."""
    busy = [case(name, flags=("-pthread",)) for name in ("dl_lock.c", "exit_busy.c")]
    programs = [*busy, "/bin/true", "stopped"]
    chance, until, outcomes = random.Random(87), time.monotonic() + CASE_87_SECONDS, {}
    for number, program in enumerate(itertools.cycle(programs)):
        if number >= len(programs) and time.monotonic() > until:
            break
        out = tmp_path / str(number)
        stopped = program == "stopped"
        process = subprocess.Popen(["/bin/sleep", "60"] if stopped else [program], stdout=-3, stderr=-3)
        try:
            if stopped:
                os.kill(process.pid, signal.SIGSTOP)
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
            else:
                time.sleep(chance.random() * 0.1)
            attach = execute([COMMAND, "attach", process.pid, "--out", out])
            outcomes.setdefault(str(program), set()).add(attach.status)
            if attach.status == 0:
                detach = execute([COMMAND, "detach", out])  # or it has ended by then
                assert detach.status in (0, 2), detach.describe()
            else:
                assert attach.status == 2 and len(attach.own_stderr) == 1, attach.describe()
            if not stopped:
                assert process.wait(30) == 0, f"{program}, round {number}: {attach.stderr}"
        finally:
            process.kill()
            process.wait()
    assert outcomes["stopped"] == {2}
    assert all(0 in outcomes[str(program)] for program in busy), outcomes


def test_a_stopped_process_is_attached_to_once_it_goes_on(life, out):  # noqa: F811
    with bare([life("server.c"), "4"]) as process:
        os.kill(process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        assert execute([COMMAND, "attach", process.pid, "--out", out]).status == 2
        os.kill(process.pid, signal.SIGCONT)
        done("attach", process.pid, "--out", out)
        done("detach", out)
