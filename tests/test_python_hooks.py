"""What stands between CPython and its allocators: other interpreters, threads without the GIL, forks, tracers."""

import subprocess
from pathlib import Path

import pytest

from heaptide_run import EVERY_ROW, beside
from python_versions import PYTHONS
from report_schema import total_problems

PROGRAMS = Path(__file__).resolve().parent / "python"

BYTES_OBJECT = 33  # sys.getsizeof(b"")
BYTEARRAY_OBJECT = 56  # sys.getsizeof(bytearray()), its buffer apart, which has a NUL at its end


@pytest.fixture(params=PYTHONS)
def python(request):
    return PYTHONS[request.param]


def line_of(program, tag):
    lines = (PROGRAMS / program).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# @{tag}"))


def rows(report, program, line):
    sites = [(row, row["site"]) for row in report["python"]]
    return [row for row, site in sites if Path(site["file"] or "?").name == program and site["line"] == line]


def trace(python, program, *arguments, out, **how):
    return beside([python, PROGRAMS / program, *arguments], out=out, options=["--py"], **how)


def test_raw_memory_without_the_lock(python, out):
    run = trace(python, "raw_threads.py", out=out)
    assert total_problems(run.report(*EVERY_ROW)) == []


def test_subinterpreters(python, out):
    """Nothing of theirs stays: their blocks go with their arenas."""
    report = trace(python, "interpreters.py", out=out, timeout=120).report(*EVERY_ROW)
    assert total_problems(report) == []
    own = [row for row in report["python"] if row["stack"][0]["function"] != "[import]"]  # a .pth file may import
    strings = [row for row in own if row["site"]["file"] in ("<string>", "<script>")]  # from 3.14 on
    assert strings
    assert sum(row["live_bytes"] for row in strings) < 100_000, strings


def test_lines_under_tracers(python, out):
    report = trace(python, "traced_lines.py", out=out).report(*EVERY_ROW)
    (row,) = rows(report, "traced_lines.py", line_of("traced_lines.py", "grow"))
    assert row["live_bytes"] == 3 * (BYTEARRAY_OBJECT + 100_001) and row["site"]["function"] == "grow"
    generated = [row for row in report["python"] if row["site"]["file"] == "<generated «x»>"]
    assert 0 <= sum(row["live_bytes"] for row in generated) - (BYTEARRAY_OBJECT + 200_001) < 200, generated


def test_cells_belong_to_each_caller(python, out):
    """What a function allocates before its first line is the caller's, also when another one called it before."""
    report = trace(python, "cells.py", out=out).report(*EVERY_ROW)
    (first,) = rows(report, "cells.py", line_of("cells.py", "first"))
    (second,) = rows(report, "cells.py", line_of("cells.py", "second"))
    assert second["live_blocks"] >= 1000 and abs(first["live_blocks"] - second["live_blocks"]) < 100


@pytest.mark.parametrize("end", ["now", "later"])
def test_forked_child_has_its_own_only(python, end, out):
    """The parent's block, given up by the child, is in no figure of the child's."""
    reports = trace(python, "fork_child.py", end, out=out).reports(*EVERY_ROW)
    (child,) = [report for report in reports if not report["main"]]
    assert total_problems(child) == []
    (row,) = rows(child, "fork_child.py", line_of("fork_child.py", "child"))
    assert row["live_bytes"] == BYTEARRAY_OBJECT + 50_001
    assert child["summary"]["by_kind"]["python"]["peak_bytes"] < 300_000


def test_padding_of_texts_holds_nothing(python, out):
    """The bytes around a text's state are never written: what is left there of an old pointer keeps no block. (A word
    elsewhere that has not been overwritten may keep one of the six; if texts kept them, it would be all.)"""
    report = trace(python, "stale_texts.py", out=out).report(*EVERY_ROW)
    (lost,) = [leak for leak in report["leaks"] if leak["direct_bytes"] >= 1 << 20]
    assert lost["blocks"] >= 5 and lost["direct_bytes"] == lost["blocks"] << 20, report["leaks"]


def test_peak_of_lines(python, out):
    """Every line holds at the peak what it held then, to the byte, and the lines add up to it."""
    report = trace(python, "peak_lines.py", out=out).report(*EVERY_ROW)
    assert total_problems(report) == []
    (small,) = rows(report, "peak_lines.py", line_of("peak_lines.py", "small"))
    (large,) = rows(report, "peak_lines.py", line_of("peak_lines.py", "large"))
    assert (small["peak_bytes"], small["live_bytes"]) == (2000 * (200 + BYTES_OBJECT), 0)
    assert (large["peak_bytes"], large["live_bytes"]) == (20 * (50_001 + BYTEARRAY_OBJECT), 0)


@pytest.mark.parametrize("options", [["-X", "dev"], ["-X", "tracemalloc"], ["-I", "-S"]])
def test_start_options(python, options, out):
    """-X dev takes the hooks out while Python starts: they are put in again."""
    run = beside([python, *options, PROGRAMS / "peak_lines.py"], out=out, options=["--py"])
    (small,) = rows(run.report(*EVERY_ROW), "peak_lines.py", line_of("peak_lines.py", "small"))
    assert small["peak_bytes"] >= 2000 * (200 + BYTES_OBJECT)


def knows_mimalloc(python):
    """3.13 on, in builds that have it: beside pymalloc in ordinary ones, and not as what they use unasked."""
    check = "import sys, sysconfig; sys.exit(not sysconfig.get_config_var('WITH_MIMALLOC'))"
    return subprocess.run([python, "-c", check]).returncode == 0


@pytest.mark.parametrize("malloc", ["malloc", "debug", "pymalloc_debug", "mimalloc", "mimalloc_debug"])
def test_memory_allocators(python, malloc, out):
    if "mimalloc" in malloc and not knows_mimalloc(python):
        pytest.skip("this CPython was built without mimalloc")
    run = trace(python, "peak_lines.py", out=out, env={"PYTHONMALLOC": malloc})
    report = run.report(*EVERY_ROW)
    assert total_problems(report) == []
    (small,) = rows(report, "peak_lines.py", line_of("peak_lines.py", "small"))
    assert (small["peak_bytes"], small["live_bytes"]) == (2000 * (200 + BYTES_OBJECT), 0)
    (large,) = rows(report, "peak_lines.py", line_of("peak_lines.py", "large"))
    assert (large["peak_bytes"], large["live_bytes"]) == (20 * (50_001 + BYTEARRAY_OBJECT), 0)
    if malloc in ("malloc", "mimalloc"):
        assert report["python_arenas"]["pinned_bytes"] == 0, "there are no pools"


HOLDING = """\
import ctypes, os, struct
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
memory = ctypes.pythonapi.PyMem_Malloc
memory.restype = ctypes.c_void_p
texts, table = [], (ctypes.c_void_p * 100)()

def fill():
    for i in range(100):
        texts.append(struct.pack("P", libc.malloc(5000)))
        table[i] = memory(32)
        words = struct.pack("4P", i, id(int), 8, libc.malloc(6000))
        ctypes.memmove(table[i], words, 32)
        del words

fill()
os._exit(0)
"""


def test_addresses_in_bytes_and_beside_a_type_hold(python, tmp_path):
    """A bytes object may be a struct of C's, and a struct may begin as a number does: 8 is one digit from 3.12 on."""
    script = tmp_path / "holding.py"
    script.write_text(HOLDING)
    report = beside([python, script], out=tmp_path / "out", options=["--py"]).report(*EVERY_ROW)
    heap = [row for row in report["leaks"] if row["kind"] == "heap" and row["site"]]
    assert not [row for row in heap if row["site"]["file"] == str(script)]


SHY = """\
class Shy:
    def __init__(self): self.payload = bytes(50_000)
    def tell(self, *arguments): print("called", flush=True)
    __getattr__ = __len__ = __bool__ = __iter__ = __repr__ = __str__ = __call__ = __eq__ = tell
    def __hash__(self): return print("hashed", flush=True) or 1
    @property
    def size(self): return self.tell()

kept = [Shy() for _ in range(20)]
"""


def test_looking_for_holders_calls_no_code_of_the_programs(python, tmp_path):
    """The output is the bare program's, which prints nothing."""
    script = tmp_path / "shy.py"
    script.write_text(SHY)
    run = beside([python, script], out=tmp_path / "out", options=["--py"])
    rows = [row for row in run.report(*EVERY_ROW)["python"] if row["site"]["file"] == str(script)]
    (payload,) = [row for row in rows if row["live_bytes"] >= 20 * 50_000]
    assert run.stdout == b"" and payload["held_by"] and "Shy" in " ".join(payload["held_by"]), payload["held_by"]
