"""The ways in which Python programs start, run and end."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from heaptide_run import EVERY_ROW, beside, execute
from python_versions import PYTHONS
from report_schema import schema_problems, total_problems

PROGRAMS = Path(__file__).resolve().parent / "python"
BYTES_OBJECT = 33  # sys.getsizeof(b"")
KEEP = "keep = [bytes(1)] * 100\ndef fill():\n    for index in range(100): keep[index] = bytes(1000)\nfill()\n"
KEPT = 100 * (1000 + BYTES_OBJECT)

INTERPRETED = "<string>", "<script>"  # what code in another interpreter is called: up to 3.13, and from 3.14 on
CONFIGS = {name: path.resolve().with_name(path.resolve().name + "-config") for name, path in PYTHONS.items()}


def run_sound(argv, out, options=("--py",), **how):
    run = beside(argv, out=out, options=options, **how)
    for report in run.reports(*EVERY_ROW):
        assert schema_problems(report) + total_problems(report) == []
    return run


def kept_bytes(report, line=3):
    rows = [row for row in report["python"] if row["site"]["line"] == line and not row["leaked"]]
    return [row["live_bytes"] for row in rows if row["live_bytes"] >= KEPT]


def unsuppressed(report):
    return [row for row in report["leaks"] if not row["suppressed"]]


# ---- what must report nothing


@pytest.mark.parametrize("words", [["-c", "pass"], ["-m", "this"]], ids=["pass", "this"])
@pytest.mark.parametrize("options", [[], ["--py"]], ids=["native", "py"])
@pytest.mark.parametrize("name", PYTHONS)
def test_nothing_of_the_users_is_lost(name, words, options, out):
    report = run_sound([PYTHONS[name], *words], out, options).report()
    assert unsuppressed(report) == [] and not any(row["leaked"] for row in report["python"])


@pytest.mark.parametrize("name", PYTHONS)
def test_nothing_is_lost_with_malloc_for_objects(name, out):
    """Strings that the interpreter never gives back are its own, not the program's leak."""
    report = run_sound([PYTHONS[name], "-c", "pass"], out, (), env={"PYTHONMALLOC": "malloc"}).report()
    assert unsuppressed(report) == []


@pytest.mark.parametrize("options", [[], ["--py"]], ids=["native", "py"])
def test_importing_numpy_loses_nothing(options, out):
    pytest.importorskip("numpy", reason="numpy is not in the environment of the tests")
    report = run_sound([sys.executable, "-c", "import numpy"], out, options).report()
    assert unsuppressed(report) == [] and not any(row["leaked"] for row in report["python"])


TRAINING = """
import torch
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(10):
    loss = model(torch.ones(32, 64)).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
print(loss.item() >= 0)
"""


@pytest.mark.parametrize("options", [[], ["--py"]], ids=["native", "py"])
def test_training_with_pytorch_loses_nothing(options, tmp_path, out):
    """What the library's start and its threads keep is known, and is none of the script's."""
    if not importlib.util.find_spec("torch"):
        pytest.skip("torch is not installed: tests/requirements.txt has it for the Pythons it exists for")
    (tmp_path / "train.py").write_text(TRAINING)
    run = beside([sys.executable, "train.py"], out=out, options=options, cwd=tmp_path, timeout=200)
    report = run.report("--top", "1000")
    summary = report["summary"]
    assert [summary[name] for name in summary if name.startswith("leaked_")] == [0, 0, 0], unsuppressed(report)
    lost = [row for row in report["python"] if row["leaked"] and row["site"]["file"] == str(tmp_path / "train.py")]
    assert lost == []


# ---- an interpreter inside a program


@pytest.mark.parametrize("name", [name for name, config in CONFIGS.items() if config.exists()])
def test_embedded_interpreter_lives_three_times(name, tmp_path, out):
    config, program = CONFIGS[name], tmp_path / "embed"
    said = subprocess.run([config, "--includes", "--embed", "--ldflags"], capture_output=True, text=True, check=True)
    libraries = [f"-Wl,-rpath,{config.parent.parent / 'lib'}"]
    words = ["gcc", "-g", "-w", "-fno-builtin", PROGRAMS / "embed.c", "-o", program, *said.stdout.split(), *libraries]
    subprocess.run(words, check=True)
    report = run_sound([program], out, ["--py", "--py-depth", "3", "--depth", "64"]).report(*EVERY_ROW)
    held = [row for row in unsuppressed(report) if row["site"]["function"] == "hold"]
    lost = sum(row["direct_bytes"] + row["indirect_bytes"] for row in held)  # at a used address something old may point
    assert 5_000 <= lost <= 15_000
    assert unsuppressed(report) == held
    for row in held:
        assert [frame["function"] for frame in row["stack"]][:4] == ["hold", "from_python", "<module>", "main"]
    (objects,) = [row for row in report["python"] if row["site"]["function"] == "from_python"]
    assert objects["live_bytes"] >= 3 * (7000 + BYTES_OBJECT)


# ---- starting


def test_awkward_path(tmp_path, out):
    folder = tmp_path / "a folder with ünïcode"
    folder.mkdir()
    (folder / "my script.py").write_text(KEEP)
    report = run_sound([sys.executable, folder / "my script.py"], out).report(*EVERY_ROW)
    assert kept_bytes(report) == [KEPT]
    assert any(row["site"]["file"] == str(folder / "my script.py") for row in report["python"])


def test_script_on_stdin(tmp_path, out):
    (tmp_path / "script.py").write_text(KEEP)
    runs = []
    for argv in ([sys.executable, "-"], [sys.executable]):
        shell = ["sh", "-c", f"exec {sys.executable} {' '.join(argv[1:])} < {tmp_path / 'script.py'}"]
        runs.append(run_sound(shell, out.with_name(f"stdin{len(runs)}")).report(*EVERY_ROW))
    for report in runs:
        assert kept_bytes(report) == [KEPT]


def test_uv_run(tmp_path, out):
    """The interpreter is a grandchild then."""
    uv = pytest.importorskip("uv", reason="uv is not in the environment of the tests")
    (tmp_path / "script.py").write_text(KEEP)
    words = ["run", "-q", "--offline", "--no-project", "--no-config", "--python", sys.executable, "script.py"]
    run = beside([uv.find_uv_bin(), *words], out=out, options=["--py"], cwd=tmp_path)
    assert [KEPT] in [kept_bytes(report) for report in run.reports(*EVERY_ROW)]


def test_installed_command(tmp_path, out):
    """What pip makes for an entry point in a folder with a space in its path: sh, which execs Python."""
    folder = tmp_path / "an environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    command = folder / "bin" / "keeper"
    head = f"""#!/bin/sh\n'''exec' "{folder}/bin/python" "$0" "$@"\n' '''\n"""
    command.write_text(head + "import sys, keeper\nprint(sys.prefix, sys.argv[1:])\n")
    command.chmod(0o755)
    (library,) = folder.glob("lib/python*/site-packages")
    (library / "keeper.py").write_text(KEEP)
    run = beside([command, "a b", ""], out=out, options=["--py"])
    assert run.stdout.decode() == f"{folder} ['a b', '']\n"
    assert kept_bytes(run.report(*EVERY_ROW)) == [KEPT]


# ---- ending

ENDS = {
    "exit_3": ("import sys; sys.exit(3)", 3),
    "raise": ("raise ValueError('end')", 1),
    "at_exit": ("import atexit; atexit.register(lambda: 1 // 0)", 0),
    "os_exit": ("import os; os._exit(4)", 4),
    "terminated": ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -15),
    "handled": ("import os, signal, sys; signal.signal(15, lambda *_: sys.exit(5)); os.kill(os.getpid(), 15)", 5),
    "interrupted": ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", -2),
}


@pytest.mark.parametrize("end", ENDS)
def test_ends(end, tmp_path, out):
    """Whatever way a program ends, its status is its own and what it kept is told."""
    code, status = ENDS[end]
    (tmp_path / "script.py").write_text(KEEP + code + "\n")
    run = run_sound([sys.executable, "script.py"], out, cwd=tmp_path)
    assert run.status == status
    assert kept_bytes(run.report(*EVERY_ROW)) == [KEPT]


def test_crash_under_faulthandler(tmp_path, out):
    """Its handler still runs, says what it says bare, and the report is there."""
    crash = "import faulthandler; faulthandler.enable()\nimport ctypes\nctypes.string_at(0)\n"
    (tmp_path / "script.py").write_text(KEEP + crash)
    bare = execute([sys.executable, "script.py"], cwd=tmp_path)
    run = run_sound([sys.executable, "script.py"], out, cwd=tmp_path, bare=bare)
    assert run.status == -11 and "Fatal Python error" in bare.stderr
    said = [re.sub("0x[0-9a-f]+", "", "\n".join(lines)) for lines in (bare.program_stderr, run.program_stderr)]
    assert said[0] == said[1]
    report = run.report(*EVERY_ROW)
    assert (report["reason"], report["signal"]) == ("crash", "SIGSEGV") and kept_bytes(report) == [KEPT]


def test_thread_that_keeps_on_allocating_at_the_end(tmp_path, out):
    (tmp_path / "script.py").write_text(
        "import threading, time\n"
        "def work():\n    while True: [bytes(100) for _ in range(100)]\n"
        "for _ in range(3): threading.Thread(target=work, daemon=True).start()\n"
        "time.sleep(0.2)\n"
    )
    run_sound([sys.executable, "script.py"], out, cwd=tmp_path)


# ---- running


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_multiprocessing(how, tmp_path, out):
    """Each worker that kept a block says so in a report of its own."""
    (tmp_path / "script.py").write_text(
        "import multiprocessing as mp, sys\nkeep = []\n"
        "def work(number):\n    keep.append(bytearray(3 << 20)); return number\n"
        "if __name__ == '__main__':\n"
        "    mp.set_start_method(sys.argv[1])\n"
        "    workers = [mp.Process(target=work, args=(number,)) for number in range(2)]\n"
        "    [worker.start() for worker in workers]; [worker.join() for worker in workers]\n"
        "    print([worker.exitcode for worker in workers])\n"
    )
    run = beside([sys.executable, "script.py", how], out=out, options=["--py"], cwd=tmp_path)
    reports = [report for report in run.reports(*EVERY_ROW) if not report["main"]]
    held = [row for report in reports for row in report["python"] if row["site"]["function"] == "work"]
    assert sum(row["live_bytes"] >= 3 << 20 for row in held) == 2


POOLS = """\
import multiprocessing as mp, os, subprocess, sys
keep = []
def work(number):
    keep.append(bytearray(8 << 20)); return os.getpid()
if __name__ == "__main__":
    mp.set_start_method(sys.argv[1])
    with mp.Pool(2) as pool:  # the end of the block ends the workers by SIGTERM
        pids = set(pool.map(work, range(4)))
    pool = mp.Pool(2); pids |= set(pool.map(work, range(4))); pool.close(); pool.join()
    subprocess.run([sys.executable, "-c", "x = bytearray(8 << 20)"], env={})
    pid = os.fork()
    if pid == 0: work(0); os._exit(0)
    os.waitpid(pid, 0); print(*pids, pid)
"""
REPORT_CPU_SECONDS = 0.05  # of the start and the report of a process that does nothing else


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_77_pools(how, tmp_path, out):
    """Whoever held 8 MiB has a report that says so, ended by SIGTERM or not, and the processor's time is within twice
    the bare program's, beside what each report takes: of three runs the best, since the machine has other work."""
    (tmp_path / "script.py").write_text(POOLS)
    argv, bare, used = [sys.executable, "script.py", how], [], []
    for number in range(3):
        bare.append(execute(argv, cwd=tmp_path))
        folder = out.with_name(f"pools{number}")
        run = beside(argv, out=folder, options=["--py"], cwd=tmp_path, bare=bare[-1], alike=lambda _: None)
        reports = run.reports()
        held = {
            report["pid"]
            for report in reports
            for row in report["python"]
            if row["site"]["function"] == "work" and row["live_bytes"] >= 8 << 20
        }
        assert held == set(map(int, run.stdout.split())), run.stdout
        (wiped,) = [report for report in reports if report["argv"][1:2] == ["-c"] and "8 << 20" in report["argv"][-1]]
        assert wiped["summary"]["by_kind"]["python"]["live_bytes"] >= 8 << 20
        used.append(run.cpu_seconds - REPORT_CPU_SECONDS * len(reports))
    assert min(used) <= 2 * min(run.cpu_seconds for run in bare), (used, [run.cpu_seconds for run in bare])


def test_asyncio(tmp_path, out):
    (tmp_path / "script.py").write_text(
        "import asyncio\nkeep = []\n"
        "async def task(number):\n    await asyncio.sleep(0)\n"
        "    keep.append(bytes(50_000))\n    await asyncio.sleep(0)\n"
        "async def main(): await asyncio.gather(*(task(number) for number in range(20)))\n"
        "asyncio.run(main())\nprint(len(keep))\n"
    )
    report = run_sound([sys.executable, "script.py"], out, ["--py", "--py-depth", "2"], cwd=tmp_path).report(*EVERY_ROW)
    rows = [row for row in report["python"] if row["site"]["function"] == "task" and row["site"]["line"] == 5]
    assert 0 <= sum(row["live_bytes"] for row in rows) - 20 * (50_000 + BYTES_OBJECT) < 1000, rows


@pytest.mark.parametrize("depth", [1, 64])
def test_deep_recursion(depth, tmp_path, out):
    """The interpreter guards it; the lines are right at both ends."""
    (tmp_path / "script.py").write_text(
        "import sys, threading\nkeep = []\n"
        "def deep(left):\n    if left: return deep(left - 1)\n    keep.append(bytes(70_000))\n"
        "def forever(): return forever()\n"
        "def work():\n"
        "    sys.setrecursionlimit(100_000)\n    deep(20_000)\n"
        "    sys.setrecursionlimit(1000)\n"
        "    try: forever()\n    except RecursionError: print('guarded')\n"
        "threading.stack_size(512 << 20)\n"
        "thread = threading.Thread(target=work); thread.start(); thread.join()\n"
    )
    report = run_sound([sys.executable, "script.py"], out, ["--py", "--py-depth", str(depth)], cwd=tmp_path).report(
        *EVERY_ROW
    )
    rows = [row for row in report["python"] if row["site"]["function"] == "deep" and row["live_bytes"] > 70_000]
    assert [row["site"]["line"] for row in rows] == [5] and {len(row["stack"]) for row in rows} == {depth}


@pytest.mark.parametrize("name", PYTHONS)
def test_recursion_of_a_hundred_thousand(name, tmp_path, out):
    """As deep as the interpreter lets it, then one step too far; both ends of the chain that is kept are right."""
    (tmp_path / "script.py").write_text(
        "import sys, threading\nkeep = []\n"
        "def deep(left):\n    if left: return deep(left - 1)\n    keep.append(bytes(70_000))\n"
        "def work():\n"
        "    sys.setrecursionlimit(100_200)\n    deep(100_000)\n"
        "    try: deep(200_000)\n    except RecursionError: print('guarded', len(keep))\n"
        "threading.stack_size(960 << 20)\n"
        "thread = threading.Thread(target=work); thread.start(); thread.join()\n"
    )
    for depth in 1, 4:
        options = ["--py", "--py-depth", str(depth)]
        run = run_sound([PYTHONS[name], "script.py"], out.with_name(f"depth{depth}"), options, cwd=tmp_path)
        assert run.stdout == b"guarded 1\n"
        sites = [(row, row["site"]) for row in run.report(*EVERY_ROW)["python"]]  # frames are line 4's, to 3.10
        rows = [row for row, site in sites if (site["function"], site["line"]) == ("deep", 5)]
        stacks = [[frame["line"] for frame in row["stack"]] for row in rows if row["live_bytes"] > 70_000]
        assert stacks == [[5] + [4] * (depth - 1)]


@pytest.mark.parametrize("name", PYTHONS)
def test_interpreters_with_locks_of_their_own(name, out):
    """From 3.12 on four of them run Python at the same time: no call is lost."""
    version = subprocess.run([PYTHONS[name], "-c", "import sys; print(sys.version_info[1])"], capture_output=True)
    if int(version.stdout) < 12:
        pytest.skip("one lock for all interpreters before 3.12")
    script = (
        "import threading\n"
        "try: import _interpreters as interpreters\n"
        "except ImportError: import _xxsubinterpreters as interpreters\n"
        "run = getattr(interpreters, 'exec', None) or interpreters.run_string\n"
        "code = 'for _ in range(20): kept = [bytes(100) for _ in range(5000)]'\n"
        "def life():\n    new = interpreters.create(); run(new, code); interpreters.destroy(new)\n"
        "threads = [threading.Thread(target=life) for _ in range(4)]\n"
        "[thread.start() for thread in threads]; [thread.join() for thread in threads]; print('done')\n"
    )
    report = run_sound([PYTHONS[name], "-c", script], out, timeout=120).report(*EVERY_ROW)
    calls = [row["allocations"] for row in report["hotspots"] if row["site"]["file"] in INTERPRETED]
    assert sum(calls) >= 4 * 20 * 5000, sorted(calls)[-5:]


def test_greenlets(tmp_path, out):
    """Stacks that are switched under the interpreter: lines stay right and nothing breaks."""
    pytest.importorskip("greenlet", reason="greenlet is not in the environment of the tests")
    (tmp_path / "script.py").write_text(
        "import greenlet\nkeep = []\n"
        "def work(number):\n"
        "    for _ in range(50):\n        keep.append(bytes(2000))\n        main.switch()\n"
        "main = greenlet.getcurrent()\n"
        "all = [greenlet.greenlet(work) for _ in range(10)]\n"
        "for _ in range(50):\n    for number, one in enumerate(all): one.switch(number)\n"
        "print(len(keep))\n"
    )
    report = run_sound([sys.executable, "script.py"], out, ["--py", "--py-depth", "3"], cwd=tmp_path).report(*EVERY_ROW)
    rows = [row for row in report["python"] if row["site"]["function"] == "work" and row["site"]["line"] == 5]
    assert 0 <= sum(row["live_bytes"] for row in rows) - 500 * (2000 + BYTES_OBJECT) < 10_000, rows
