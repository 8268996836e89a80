"""pytest --heaptide: what each test leaks and how much memory it takes.

Each test runs in a process of its own, forked from pytest's: heaptide writes a report for every process, and a forked
one's holds only what it allocated itself. So a test's peak and its leaks are exact, whatever ran before it. docs/ci.md
says what that means for fixtures.

@pytest.mark.limit_leaks("1 KiB")     fails the test when it leaks more
@pytest.mark.limit_memory("24 MiB")   fails the test when its peak is higher
"""

import gc
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

import pytest
from _pytest.runner import runtestprotocol

SESSION = "HEAPTIDE_SESSION"  # what `heaptide run` tells the recorder; there only in a traced process
MARKERS = {
    "limit_leaks": "limit_leaks(size): with --heaptide, fail the test when it leaks more, such as '1 KiB' or 0",
    "limit_memory": "limit_memory(size): with --heaptide, fail the test when its peak memory is higher",
}
UNITS = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
STACKS_SHOWN = 5  # of one test
FRAMES_SHOWN = 8  # of one stack
PEAKS_SHOWN = 5


# ---- starting


def pytest_addoption(parser):
    group = parser.getgroup("heaptide", "memory of each test (heaptide)")
    group.addoption("--heaptide", action="store_true", help="measure each test's leaks and peak memory with heaptide")
    group.addoption("--heaptide-out", metavar="DIR", help="where the reports go (a new folder heaptide.pytest.PID)")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config, args):
    """Starts pytest anew under `heaptide run`, unless it runs there already: before output is captured, and before any
    of the tests' own code was imported."""
    options = early_config.known_args_namespace
    if options.heaptide and SESSION not in os.environ:
        start_traced(early_config, options)
    yield


def start_traced(config, options):
    command = [command_path(), "run", "--py", "-q"]
    if options.heaptide_out:
        command += ["--out", options.heaptide_out]
    command += ["--", sys.executable, "-m", "pytest", *map(str, config.invocation_params.args)]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command[0], command)


def command_path():
    """The heaptide of this environment, else that of PATH."""
    beside = Path(sys.executable).with_name("heaptide")
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("heaptide")
    if not found:
        raise pytest.UsageError("--heaptide: heaptide is not in PATH; pip install heaptide")
    return found


def pytest_configure(config):
    for text in MARKERS.values():
        config.addinivalue_line("markers", text)
    if config.getoption("heaptide"):
        config.pluginmanager.register(TestMemory(config), "heaptide-tests")


# ---- sizes


def size_bytes(size):
    """`size` as a number of bytes: a number, or a text such as "24 MiB"."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(size))
    if not match or match[2].upper() not in UNITS:
        raise pytest.UsageError(f"heaptide: {size!r} is no size; give one such as '24 MiB'")
    return int(float(match[1]) * UNITS[match[2].upper()])


def size_text(count):
    if count < 1024:
        return f"{count} B"
    value, units = count / 1024, ["KiB", "MiB", "GiB", "TiB"]
    while value >= 1023.5 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {units[0]}"


# ---- reports


class Reports:
    """The folder that `heaptide run` writes to, as the recorder was told."""

    def __init__(self):
        told = dict(entry.split("=", 1) for entry in os.environ[SESSION].split(";") if "=" in entry)
        self.folder = Path(unquote(told["out"], errors="surrogateescape"))
        self.library = unquote(told["library"])
        self.command = command_path()

    def read(self, *options):
        """The processes' reports by pid, of those that are asked for."""
        done = subprocess.run(
            [self.command, "report", self.folder, "--json", "--top", "1", "--fail-on", "none", *map(str, options)],
            capture_output=True,
            text=True,
            env=self._own_environment(),
        )
        reports = map(json.loads, done.stdout.splitlines())
        return {report["pid"]: report for report in reports if report["reason"] != "exec"}

    def _own_environment(self):
        """Without what puts the recorder into a process: the reading of a report is not to be recorded."""
        kept = [name for name in os.environ.get("LD_PRELOAD", "").split(":") if name and name != self.library]
        environment = {name: value for name, value in os.environ.items() if name not in (SESSION, "LD_PRELOAD")}
        return environment | ({"LD_PRELOAD": ":".join(kept)} if kept else {})


def frame_text(frame):
    place = f"  {Path(frame['file']).name}:{frame['line']}" if frame["file"] and frame["line"] else ""
    return f"{frame['function'] or '[' + Path(frame.get('module') or 'unknown').name + ']'}{place}"


def own_frames(stack):
    """A stack as the reader of a test needs it: its lines of Python, where there are any."""
    python = [frame for frame in stack if frame.get("lang") == "python" or "module" not in frame]
    named = [frame for frame in stack if frame["file"]]
    return [frame_text(frame) for frame in (python or named or stack)[:FRAMES_SHOWN]]


def leaked_bytes(report):
    """None: leaks were not looked for, or the search did not come to its end."""
    summary = report["summary"]
    if summary["leaked_direct_bytes"] is None:
        return None
    return summary["leaked_direct_bytes"] + summary["leaked_indirect_bytes"]


def leak_lines(report):
    """What leaked, the largest first, each with its stack."""
    leaks = [leak for leak in report["leaks"] if not leak["suppressed"]]
    lines = []
    for leak in leaks[:STACKS_SHOWN]:
        size, blocks = leak["direct_bytes"] + leak["indirect_bytes"], leak["blocks"]
        lines.append(f"{size_text(size)} in {blocks} block{'s' * (blocks != 1)} of {leak['kind']}")
        lines += [f"    {text}" for text in own_frames(leak["stack"])]
    if len(leaks) > STACKS_SHOWN:
        lines.append(f"... {len(leaks) - STACKS_SHOWN} more")
    return lines


# ---- tests


class TestMemory:
    """Runs the tests, each in a process of its own, and tells what they took."""

    __test__ = False  # no test case, whatever its name says

    def __init__(self, config):
        self.config = config
        self.reports = Reports()
        self.pids = {}  # pid: the test's id
        self.found = []  # of each test: its id, peak and leaks; on xdist's controller those of all workers

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self.run_forked(item):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def run_forked(self, item):
        """The test's reports, as its process came to them, and as the limits leave them."""
        with tempfile.TemporaryFile() as outcome:
            pid = os.fork()
            if pid == 0:
                run_in_child(item, outcome)
            status = wait(pid)
            self.pids[pid] = item.nodeid
            outcome.seek(0)
            data = outcome.read()
        if os.WIFSIGNALED(status) or not data:
            return [crash_report(item, status)]
        hook = self.config.hook
        reports = [hook.pytest_report_from_serializable(config=self.config, data=part) for part in pickle.loads(data)]
        self.judge(item, pid, reports)
        return reports

    def judge(self, item, pid, reports):
        limits = {name: limit_of(item, name) for name in MARKERS}
        call = next((report for report in reports if report.when == "call"), None)
        if not call or not call.passed or all(limit is None for limit in limits.values()):
            return
        report = self.reports.read("--pid", pid).get(pid)
        problem = limit_problem(report, limits)
        if problem:
            call.outcome = "failed"
            call.longrepr = problem

    # ---- the end

    def pytest_sessionfinish(self):
        if self.pids:
            reports = self.reports.read()
            self.found += [
                {"test": test, "peak": reports[pid]["summary"]["peak_bytes"], "leaked": leaked_bytes(reports[pid]),
                 "lines": leak_lines(reports[pid])}
                for pid, test in self.pids.items() if pid in reports
            ]  # fmt: skip
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["heaptide"] = self.found

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """On xdist's controller: a worker has ended."""
        self.found += getattr(node, "workeroutput", {}).get("heaptide", [])

    def pytest_terminal_summary(self, terminalreporter):
        if hasattr(self.config, "workeroutput"):
            return
        terminalreporter.section("heaptide")
        leaking = sorted((test for test in self.found if test["leaked"]), key=lambda test: -test["leaked"])
        for test in leaking:
            terminalreporter.line(f"{test['test']} leaked {size_text(test['leaked'])}", red=True)
            for line in test["lines"]:
                terminalreporter.line(f"    {line}")
        highest = sorted(self.found, key=lambda test: -test["peak"])[:PEAKS_SHOWN]
        if highest:
            terminalreporter.line("highest peaks:")
        for test in highest:
            terminalreporter.line(f"{size_text(test['peak']):>12}  {test['test']}")
        unknown = sum(test["leaked"] is None for test in self.found)
        leaks = f"{len(leaking)} leaked" + (f", of {unknown} it is not known" if unknown else "")
        terminalreporter.line(
            f"{len(self.found)} tests measured, {leaks}; heaptide report {self.reports.folder} shows all"
        )


def limit_of(item, name):
    marker = item.get_closest_marker(name)
    if not marker:
        return None
    if len(marker.args) != 1 or marker.kwargs:
        raise pytest.UsageError(f"{item.nodeid}: {name} takes one size, such as '1 KiB'")
    return size_bytes(marker.args[0])


def limit_problem(report, limits):
    """What is over a limit, in words; "": nothing."""
    if not report:
        return "heaptide: no report of the test's process was written; was heaptide run with --no-children or --only?"
    problems = []
    leaked, peak = leaked_bytes(report), report["summary"]["peak_bytes"]
    if limits["limit_leaks"] is not None and leaked is None:
        problems.append("heaptide: the leaks of the test's process are not known; " + " ".join(report["notes"]))
    elif limits["limit_leaks"] is not None and leaked > limits["limit_leaks"]:
        problems.append(f"leaked {size_text(leaked)}, limit_leaks is {size_text(limits['limit_leaks'])}")
        problems += [f"    {line}" for line in leak_lines(report)]
    if limits["limit_memory"] is not None and peak > limits["limit_memory"]:
        problems.append(f"peak of {size_text(peak)}, limit_memory is {size_text(limits['limit_memory'])}")
        problems += [f"    {size_text(row['bytes'])} of it: {frame_text(row['site'])}" for row in report["peak"]]
    return "\n".join(problems)


# ---- the test's own process


def run_in_child(item, outcome):
    """Runs the test with its fixtures, leaves its reports in the file `outcome`, and ends the process."""
    status = 1
    try:
        reports = runtestprotocol(item, log=False, nextitem=None)
        hook = item.config.hook
        parts = [hook.pytest_report_to_serializable(config=item.config, report=report) for report in reports]
        pickle.dump(parts, outcome)
        outcome.flush()
        gc.collect()  # what only waits for the collector is no leak
        status = 0
    finally:
        os._exit(status)  # heaptide writes its report on the way


def wait(pid):
    """The status of the test's process, which does not outlive a pytest that is interrupted."""
    try:
        return os.waitpid(pid, 0)[1]
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


def crash_report(item, status):
    how = f"ended by {signal.Signals(os.WTERMSIG(status)).name}" if os.WIFSIGNALED(status) else "ended early"
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords=dict.fromkeys(item.keywords, 1),
        outcome="failed",
        longrepr=f"the test's process {how}",
        when="call",
    )
