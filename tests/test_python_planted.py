"""One program that keeps and loses memory in every way Python has, on each CPython: bytes, blocks, line, holders."""

import sys
from collections import namedtuple
from pathlib import Path

import pytest

from expectations import tagged_lines
from heaptide_run import EVERY_ROW, beside
from python_versions import PYTHONS
from report_schema import schema_problems, total_problems

PROGRAM = Path(__file__).resolve().parent / "python" / "planted.py"
LINES = tagged_lines(PROGRAM.read_text())
BYTES_OBJECT = 33  # sys.getsizeof(b"")
BYTEARRAY_OBJECT = 56  # sys.getsizeof(bytearray()); its buffer is a block of its own, with a NUL at its end

Kept = namedtuple("Kept", "count size blocks function held_by")
KEPT = {
    "@list": Kept(50, BYTEARRAY_OBJECT + 20_001, 2, "fill", ["bytearray", "__main__.LISTED[0]"]),
    "@dict": Kept(40, BYTES_OBJECT + 3000, 1, "fill", ["bytes", "Cache.entries[0]", "__main__.CACHE"]),
    "@lru": Kept(30, BYTES_OBJECT + 4000, 1, "remembered", ["bytes", "_lru_cache_wrapper[0]", "__main__.remembered"]),
    "@generator": Kept(1, BYTES_OBJECT + 60_000, 1, "counting", ["bytes", "counting.payload", "__main__.GENERATOR"]),
    "@closure": Kept(1, BYTES_OBJECT + 70_000, 1, "closure", ["bytes", "<lambda>.payload", "__main__.CLOSURE"]),
    "@thread_local": Kept(1, BYTES_OBJECT + 80_000, 1, "<module>", ["bytes", "thread-local payload"]),
    "@other_thread": Kept(1, BYTES_OBJECT + 90_000, 1, "work", ["bytes", "thread-local payload"]),
    "@frame": Kept(1, BYTES_OBJECT + 110_000, 1, "work", ["bytes", "work.mine", "stack of work (thread worker)"]),
}
LOST = {"@cycle": (10, BYTES_OBJECT + 5000), "@dying": (15, BYTES_OBJECT + 6000)}


@pytest.fixture(params=PYTHONS)
def python(request):
    return PYTHONS[request.param]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The report of each interpreter, made once."""
    made = {}

    def report_of(python):
        if python not in made:
            out = tmp_path_factory.mktemp("planted") / "out"
            made[python] = beside([python, PROGRAM], out=out, options=["--py"]).report(*EVERY_ROW)
        return made[python]

    return report_of


def rows(report, section, tag):
    found = [(row, row["site"] or {}) for row in report[section]]
    return [
        row for row, site in found if Path(site.get("file") or "?").name == PROGRAM.name and site["line"] == LINES[tag]
    ]


def test_report_is_sound(python, reports):
    report = reports(python)
    assert schema_problems(report) + total_problems(report) == []


@pytest.mark.parametrize("tag", KEPT)
def test_kept_bytes(tag, python, reports):
    kept = KEPT[tag]
    (row,) = rows(reports(python), "python", tag)
    assert (row["live_bytes"], row["live_blocks"]) == (kept.count * kept.size, kept.count * kept.blocks), row
    assert row["site"]["function"].split(".")[-1] == kept.function and not row["leaked"]


@pytest.mark.parametrize("tag", LOST)
def test_lost_objects(tag, python, reports):
    count, size = LOST[tag]
    leaked = [row for row in rows(reports(python), "python", tag) if row["leaked"]]
    assert sum(row["live_bytes"] for row in leaked) == count * size, leaked
    assert sum(row["live_blocks"] for row in leaked) == count


def test_lost_native_blocks(python, reports):
    """Of the ctypes call: its Python line is the site, since between it and malloc there is the interpreter only."""
    found = rows(reports(python), "leaks", "@ctypes")
    lost = sum(row["direct_bytes"] + row["indirect_bytes"] for row in found)
    assert lost == 20 * 70_000 and sum(row["blocks"] for row in found) == 20, found
    assert {row["site"]["function"] for row in found} == {"lose_native"}
    assert all("module" not in row["site"] for row in found)


@pytest.mark.parametrize("tag", KEPT)
def test_holders(tag, python, reports):
    (row,) = rows(reports(python), "python", tag)
    assert row["held_by"] == KEPT[tag].held_by


def test_array_of_numpy(out):
    """Its data is memory of the native heap, at the line of Python that asked for it, held by the array's holder."""
    pytest.importorskip("numpy", reason="numpy is not in the environment of the tests")
    report = beside([sys.executable, PROGRAM, "numpy"], out=out, options=["--py"]).report(*EVERY_ROW)
    (row,) = [row for row in rows(report, "peak", "@numpy") if row["kind"] == "heap"]
    assert (row["bytes"], row["blocks"]) == (500 * 200 * 8, 1), row
    assert row["held_by"] == ["ndarray", "__main__.ARRAYS['weights']"]
