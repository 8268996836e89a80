"""Runs programs bare and under heaptide, and reads the reports."""

import json
import os
import resource
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from program_build import REPOSITORY

COMMAND = Path(os.environ.get("HEAPTIDE", REPOSITORY / "build" / "heaptide"))
EVERY_ROW = ("--top", "1000000")  # the lists that --top cuts, uncut
# A program and its children may use this much more of the processors under heaptide than bare. (The clock on the wall
# says how busy the machine is.)
SLOWDOWN_LIMIT = 10
SLOWDOWN_GRACE_SECONDS = 2


class Stuck(AssertionError):
    """A program did not end in its time."""


@dataclass
class Run:
    """One finished command. `status` is negative for a death by signal, as in subprocess."""

    argv: list
    status: int
    stdout: bytes
    stderr: str
    seconds: float
    cpu_seconds: float = 0  # its own and those of the children it waited for
    pid: int = 0
    out: Path = None  # the report folder, of a traced run

    @property
    def own_stderr(self):
        """The lines that heaptide itself wrote."""
        return [line for line in self.stderr.splitlines() if line.startswith("heaptide: ")]

    @property
    def program_stderr(self):
        """What is left when heaptide's own lines are taken out."""
        return [line for line in self.stderr.splitlines() if not line.startswith("heaptide: ")]

    def reports(self, *options):
        """Every process's report, as the objects that `heaptide report DIR --json` prints."""
        return read_reports(self.out, *options)

    def report(self, *options):
        """The one report of the process that CMD started: its last image."""
        main = [report for report in self.reports(*options) if report["main"]]
        assert main, f"no report of the main process in {self.out}: {folder_listing(self.out)}\n{self.stderr}"
        return main[-1]

    def describe(self):
        return (
            f"command: {' '.join(map(str, self.argv))}\nstatus: {self.status}  seconds: {self.seconds:.2f}\n"
            f"stdout: {self.stdout[-2000:]!r}\nstderr: {self.stderr[-4000:]}"
        )


def execute(argv, *, timeout=60, env=None, cwd=None, stdin=None, stdout=None):
    """Runs a command to its end and returns the Run. Output goes through files: a child that lives on and keeps
    them open makes nobody wait. `env` adds to the environment; a value of None takes a variable away."""
    argv = [str(word) for word in argv]
    environment = dict(os.environ)
    for name, value in (env or {}).items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = os.fspath(value)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began, cpu_began = time.monotonic(), _children_cpu_seconds()
        process = subprocess.Popen(
            argv,
            stdin=stdin or subprocess.DEVNULL,
            stdout=output if stdout is None else stdout,
            stderr=errors,
            env=environment,
            cwd=cwd,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout)
            stuck = False
        except subprocess.TimeoutExpired:
            stuck = True
            _session_end(process)
            status = process.wait()
        seconds, cpu_seconds = time.monotonic() - began, _children_cpu_seconds() - cpu_began
        output.seek(0)
        errors.seek(0)
        run = Run(
            argv, status, output.read(), errors.read().decode(errors="replace"), seconds, cpu_seconds, process.pid
        )
    if stuck:
        raise Stuck(f"still running after {timeout:.1f} s\n{run.describe()}")
    return run


def _children_cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _session_end(process):
    """Ends a stuck command and whatever it started in its session."""
    for pid in [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]:
        try:
            if os.getsid(pid) == process.pid:
                os.kill(pid, 9)
        except OSError:
            pass


def command(*words, **how):
    """Runs `heaptide WORDS...`."""
    return execute([COMMAND, *words], **how)


def traced(argv, *, out, options=(), **how):
    """Runs a program under `heaptide run`, reports into the folder `out`."""
    run = command("run", "--out", out, *options, "--", *argv, **how)
    run.out = Path(out)
    return run


def beside(argv, *, out, options=(), timeout=60, bare=None, alike=bytes, **how):
    """Runs a program bare (or takes the bare run given), then traced, and asserts what holds for every program: same
    status, same output, and an end in reasonable time. Returns the traced run. `alike` makes of an output what has to
    be the same, for programs that print times or the like."""
    bare = bare or execute(argv, timeout=timeout, **how)
    limit = SLOWDOWN_LIMIT * bare.cpu_seconds + SLOWDOWN_GRACE_SECONDS
    run = traced(argv, out=out, options=options, timeout=max(timeout, SLOWDOWN_LIMIT * bare.seconds), **how)
    assert run.status == bare.status, f"bare status {bare.status}, traced {run.status}\n{run.describe()}"
    assert alike(run.stdout) == alike(bare.stdout), f"bare stdout {bare.stdout[-2000:]!r}\n{run.describe()}"
    used = run.cpu_seconds
    assert used <= limit, f"CPU seconds: bare {bare.cpu_seconds:.2f}, traced {used:.2f}, limit {limit:.2f}"
    return run


def read_reports(folder, *options):
    done = command("report", folder, "--json", *options)
    assert done.status in (0, 1), f"report failed\n{done.describe()}\nfolder: {folder_listing(folder)}"
    lines = done.stdout.decode().splitlines()
    reports = []
    for line in lines:
        try:
            reports.append(json.loads(line))
        except ValueError as error:
            raise AssertionError(f"not JSON ({error}): {line[:500]}") from error
    assert reports, f"no report at all\n{done.describe()}\nfolder: {folder_listing(folder)}"
    return reports


def folder_listing(folder):
    folder = Path(folder) if folder else None
    if not folder or not folder.is_dir():
        return f"{folder} is no folder"
    return ", ".join(f"{path.name} ({path.stat().st_size} B)" for path in sorted(folder.rglob("*"))) or "empty"
