"""Attaching from outside to processes of other PID and mount namespaces, where they are process 1."""

import os
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from heaptide_run import COMMAND, command, execute, read_reports
from test_attach import done
from test_cases_start import leaked
from test_life import life, wait_for  # noqa: F401 (a fixture)

UNSHARE = ["unshare", "--pid", "--fork", "--mount-proc"]


@contextmanager
def in_namespace(program, *, hidden):
    """A server in namespaces of its own; our number of it, and the process that holds its pipes. `hidden`: it does not
    see where heaptide is."""
    probe = execute([*UNSHARE, "true"])
    if probe.status != 0:
        pytest.skip(f"no namespaces here: {probe.stderr.strip()}")
    hide = 'mount -t tmpfs none "$0" && ' if hidden else ""
    words = [*UNSHARE, "sh", "-c", f'{hide}exec "$1" 4', COMMAND.resolve().parent, program]
    process = subprocess.Popen([str(word) for word in words], stdin=-1, stdout=-1, stderr=-3, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        yield int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()), process
    finally:
        process.stdin.close()
        process.kill()
        process.wait(20)


@pytest.mark.parametrize("hidden", [False, True], ids=["seen", "hidden"])
def test_process_1_of_a_container(hidden, life, tmp_path):  # noqa: F811
    program = shutil.copy(life("server.c"), tmp_path / "server")
    with in_namespace(program, hidden=hidden) as (pid, process):
        for name in ("first", "second"):
            folder = tmp_path / name
            done("attach", pid, "--out", folder)
            time.sleep(0.5)
            done("snapshot", folder)
            (report,) = read_reports(folder)
            assert (report["pid"], report["main"], report["reason"]) == (1, True, "snapshot")
            if name == "second":
                assert "server" in command("top", folder).stdout.decode()
            done("detach", folder)
            run = command("detach", folder)
            assert run.status == 2 and "no traced process" in run.stderr, run.describe()
        process.stdin.close()
        assert process.stdout.read() == "0\n" and process.wait(20) == 0
    (report,) = read_reports(folder)
    assert report["reason"] == "detach" and set(leaked(report)) == {("server.c", 17)}


def test_a_container_that_is_killed(life, tmp_path, out):  # noqa: F811
    program = shutil.copy(life("server.c"), tmp_path / "server")
    with in_namespace(program, hidden=False) as (pid, process):
        done("attach", pid, "--out", out)
        wait_for(lambda: sum(path.stat().st_size for path in out.iterdir() if path.name.endswith((".live", ".live2"))))
        (report,) = read_reports(out)
        assert report["reason"] == "snapshot"
        os.kill(pid, signal.SIGKILL)
        process.wait(20)
        (report,) = read_reports(out)
    assert report["reason"] == "killed" and report["pid"] == 1
