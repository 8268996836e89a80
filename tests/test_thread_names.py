"""Case 84: threads are called as Python calls them, whole, and as the kernel does where Python says nothing."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from conftest import CASES
from heaptide_run import COMMAND, EVERY_ROW, beside, command, read_reports, traced
from python_versions import PYTHONS
from report_schema import schema_problems, total_problems
from test_attach import bare, done

PROGRAM = Path(__file__).resolve().parent / "python" / "thread_names.py"
LONG = "a rather long name with ünïcode, 線 and 🧵, "
CUT_BYTES = 252  # of a name that Python knows, when what follows has characters of up to four bytes

ENDED = [
    "ended " + LONG,
    "cut " + "ж" * ((CUT_BYTES - 4) // 2),
    "ended subclass " + LONG,
    "ended pool " + LONG + "_0",
    "ended text",
    "ended ? \ufffd\ufffd\ufffd \ufffd",  # a NUL, and halves of characters
    "ended wrapped",
]
LIVING = [
    "living " + LONG,
    "living subclass " + LONG,
    "kept after a number",
    "kept after none",
    "kept after del",
    "living pool " + LONG + "_0",
]
STRANGE = 4  # ended threads whose name was no string
RENAMED = ["renamed " + LONG, "renamed by dict " + LONG, "living text"]


@pytest.fixture(params=PYTHONS)
def python(request):
    return request.param, PYTHONS[request.param]


def sound(report):
    assert schema_problems(report) + total_problems(report) == []
    return report


def names_of(report):
    return Counter(thread["name"] for thread in report["threads"])


def run(python, *words, out, options=("--py",), **how):
    return traced([python, PROGRAM, *words], out=out, options=["-q", *options], **how)


def tells_the_kernel(name):
    """From CPython 3.14 on, where a thread whose name is no string does not even begin."""
    return name == "3.14"


def expected(*also):
    """The names of all threads but those that only the kernel has named."""
    return Counter(["main", *ENDED, *LIVING, *also])


def python_names(report):
    return Counter({name: count for name, count in names_of(report).items() if not name.startswith("python")})


def unnamed(report):
    return sum(count for name, count in names_of(report).items() if name.startswith("python"))


@pytest.mark.parametrize("end", ["end", "os_exit", "terminated", "crash"])
def test_every_thread_by_its_whole_name(end, python, out):
    """Whoever holds the interpreter's lock when the report is put together, in the process or in a copy of it."""
    name, path = python
    done_run = run(path, end, out=out)
    report = sound(done_run.report(*EVERY_ROW))
    assert report["reason"] == {"end": "exit", "os_exit": "_exit", "terminated": "signal", "crash": "crash"}[end]
    assert python_names(report) == expected(*RENAMED), done_run.describe()
    assert unnamed(report) == 1 + (0 if tells_the_kernel(name) else STRANGE), names_of(report)


def test_a_thread_that_python_did_not_start(python, out):
    """C code's own threads have a name in Python once it was asked for; what Python makes up is none."""
    name, path = python
    report = sound(run(path, "end", "named", out=out).report(*EVERY_ROW))
    assert python_names(report) == expected(*RENAMED, "named by itself " + LONG)
    assert unnamed(report) == (0 if tells_the_kernel(name) else STRANGE)


def test_threads_of_a_forked_process(python, out):
    _, path = python
    reports = [sound(report) for report in run(path, "fork", out=out).reports(*EVERY_ROW)]
    (child,) = [report for report in reports if not report["main"]]
    assert names_of(child) == Counter(["main", "child, ended", "child, living"])


def test_the_list_of_threads_is_gone(python, out):
    """Then the names are those that the threads began with."""
    name, path = python
    report = sound(run(path, "threads_gone", out=out).report(*EVERY_ROW))
    assert python_names(report) == expected(*["before"] * len(RENAMED))


def test_without_py_the_kernels_names(python, out):
    name, path = python
    done_run = run(path, "end", out=out, options=())
    names = names_of(sound(done_run.report(*EVERY_ROW)))
    assert all(len(one.encode()) <= 15 for one in names)
    if tells_the_kernel(name):
        assert {"ended a rather ", "living a rather", "cut " + "ж" * 5} <= names.keys(), names
    else:
        assert names.keys() == {"main", Path(path).name}


def test_a_layout_that_is_not_known(python, out, tmp_path):
    """Nothing is read by it then: the names are the kernel's."""
    name, path = python
    library = tmp_path / "no_frame.so"
    source = "void *PyThreadState_GetFrame(void *state) { (void)state; return 0; }"
    words = ["gcc", "-shared", "-fPIC", "-xc", "-", "-o", library]
    subprocess.run(words, input=source, text=True, check=True)
    report = sound(run(path, "os_exit", out=out, env={"LD_PRELOAD": library}).report(*EVERY_ROW))
    if not any("not laid out as expected" in note for note in report["notes"]):
        pytest.skip("this interpreter's own functions cannot be replaced")
    names = names_of(report)
    assert all(len(one.encode()) <= 15 for one in names), names
    if not tells_the_kernel(name):
        assert names.keys() == {"main", Path(path).name}


def test_reports_in_the_midst_of_changes(python, out, tmp_path):
    """Names are read in copies of the process while other threads begin, are renamed and end."""
    _, path = python
    (tmp_path / "script.py").write_text(
        "import sys, threading, time\nstop = threading.Event()\n"
        "def work(): pass\n"
        "def begin():\n    while not stop.is_set():\n"
        "        threads = [threading.Thread(target=work, name=f'short {n} ' + 'ü' * n) for n in range(20)]\n"
        "        [thread.start() for thread in threads]; [thread.join() for thread in threads]\n"
        "def rename():\n    number = 0\n    while not stop.is_set():\n"
        "        number += 1; threading.current_thread().name = 'renamed ' + 'ж' * (number % 200)\n"
        "busy = [threading.Thread(target=f, name=f.__name__, daemon=True) for f in (begin, begin, rename)]\n"
        "[thread.start() for thread in busy]\n"
        "print('ready', flush=True); sys.stdin.read(); stop.set(); [thread.join() for thread in busy]\n"
    )
    words = [COMMAND, "run", "-q", "--py", "--out", out, "--", path, tmp_path / "script.py"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(list(map(str, words)), stdin=pipe, stdout=pipe, text=True)
    assert process.stdout.readline() == "ready\n"
    right = 0
    for _ in range(10):
        done("snapshot", out)
        report = sound([report for report in read_reports(out) if report["main"]][-1])
        # A thread that just begins has the kernel's name yet, one that just ends may have none.
        names = [thread["name"] or "" for thread in report["threads"] if thread["tid"]]
        wanted = ["main", "begin", "rename", "renamed ж*", "short [0-9]+ ü*", "", re.escape(Path(path).name[:15])]
        assert all(re.fullmatch("|".join(wanted), name) for name in names), names
        renamed = [name for name in names if name.startswith("rename")]
        right += len(renamed) == 1 and names.count("begin") == 2 and names.count("main") == 1
    assert right >= 5
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_threads_of_an_attached_process(python, out, tmp_path):
    """Those that lived before the attach too."""
    _, path = python
    (tmp_path / "script.py").write_text(
        "import sys, threading\nkeep = []\n"
        "go, did, hold = threading.Event(), threading.Semaphore(0), threading.Event()\n"
        "def work():\n    go.wait(); keep.append([bytes(1000) for _ in range(100)]); did.release(); hold.wait()\n"
        "def begin(name): threading.Thread(target=work, name=name, daemon=True).start()\n"
        f"begin('before, {LONG}')\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        f"begin('after, {LONG}')\n"
        "go.set(); did.acquire(); did.acquire(); print('done', flush=True); sys.stdin.read()\n"
    )
    with bare([path, tmp_path / "script.py"]) as process:
        done("attach", process.pid, "--py", "--out", out)
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"
        done("detach", out)
        process.stdin.close()
        assert process.wait(20) == 0
    (report,) = read_reports(out, *EVERY_ROW)
    assert {"before, " + LONG, "after, " + LONG} <= names_of(report).keys(), names_of(report)


def test_who_holds_it_says_the_whole_name(python, out, tmp_path):
    _, path = python
    (tmp_path / "script.py").write_text(
        "import threading\nready, hold = threading.Event(), threading.Event()\n"
        "def work():\n    mine = bytes(5_000_000)\n    ready.set(); hold.wait()\n"
        f"threading.Thread(target=work, name='holder, {LONG}', daemon=True).start()\nready.wait()\n"
    )
    report = sound(traced([path, tmp_path / "script.py"], out=out, options=["-q", "--py"]).report(*EVERY_ROW))
    (row,) = [row for row in report["python"] if row["live_bytes"] >= 5_000_000]
    assert row["held_by"][-1] == f"stack of work (thread holder, {LONG})", row


def test_shares_of_threads_have_the_whole_names(python, out, tmp_path):
    _, path = python
    (tmp_path / "script.py").write_text(
        "import threading\nkeep, ready, hold = [], threading.Event(), threading.Event()\n"
        "def work(then):\n    keep.append(bytes(5_000_000)); then()\n"
        f"ended = threading.Thread(target=work, args=(int,), name='ended, {LONG}'); ended.start(); ended.join()\n"
        "def stay(): ready.set(); hold.wait()\n"
        f"threading.Thread(target=work, args=(stay,), name='living, {LONG}', daemon=True).start(); ready.wait()\n"
    )
    options = ["-q", "--py", "--per-thread"]
    report = sound(traced([path, tmp_path / "script.py"], out=out, options=options).report(*EVERY_ROW))
    (row,) = [row for row in report["python"] if row["live_bytes"] >= 10_000_000]
    assert {share["name"] for share in row["threads"]} == {"ended, " + LONG, "living, " + LONG}


def test_84_py_hooks(python, out):
    _, path = python
    report = sound(beside([path, CASES / "py_hooks.py"], out=out, options=["--py"]).report(*EVERY_ROW))
    assert names_of(report) == Counter(["main", "a rather long thread name with ünïcode"])


def test_84_what_the_kernel_cut(case, out):
    """No half of a character, whatever bytes the kernel has."""
    beside([case("kernel_names.c", flags=("-pthread", "-D_GNU_SOURCE"))], out=out)
    names = ["fifteen bytes..", "in the 15: a ü", "cut in two: ab", "cut in three ", "cut in four ", "latin \ufffd"]
    (report,) = read_reports(out)
    assert names_of(sound(report)) == Counter(["main", *2 * [*names, "\ufffd" * 15]])
    assert command("report", out, "--json").stdout.decode("utf-8") and command("report", out).stdout.decode("utf-8")
