"""Of which types the live objects of a line are: counted at the end, each block once, buffers with their objects."""

import sys
from pathlib import Path

import pytest

from expectations import tagged_lines
from heaptide_run import EVERY_ROW, beside, command
from python_versions import PYTHONS
from report_schema import schema_problems, total_problems

BYTES_OBJECT = 33  # sys.getsizeof(b"")
BYTEARRAY_OBJECT = 56  # sys.getsizeof(bytearray()); its buffer is a block of its own, with a NUL at its end
SCRIPT = """\
import gc
gc.disable()
class Box:
    def __init__(self, number):
        self.number = number
        self.name = "box"
class Slots:
    __slots__ = ("first",)
room = [None] * 6000
def fill():
    for i in range(1000):
        room[i] = bytes(1000)  # @bytes
        room[1000 + i] = bytearray(1000)  # @bytearray
        room[2000 + i] = [room[i]] * 100  # @list
        room[3000 + i] = {i: room[i], 1.5: None}  # @dict
        room[4000 + i] = Slots()  # @slots
        room[5000 + i] = Box(i)  # @box
        room[5000 + i].again = room[i], room[i]  # @shared
def lose():
    lost = [bytes(500)]  # @lost
    lost.append(lost)
fill()
for _ in range(100): lose()
mixed = [bytes(2000), "a" * 500, [None] * 50, bytearray(900), {1, 2}]  # @mixed
"""
LINES = tagged_lines(SCRIPT)


@pytest.fixture(params=PYTHONS)
def run(request, tmp_path, out):
    (tmp_path / "script.py").write_text(SCRIPT)
    return beside([PYTHONS[request.param], "-I", "script.py"], out=out, options=["--py"], cwd=tmp_path)


@pytest.fixture(params=PYTHONS)
def run_script(request, tmp_path, out):
    def run(text):
        (tmp_path / "script.py").write_text(text)
        argv = [PYTHONS[request.param], "-I", "script.py"]
        report = beside(argv, out=out, options=["--py"], cwd=tmp_path).report(*EVERY_ROW)
        assert schema_problems(report) + total_problems(report) == []
        return report

    return run


def rows_at(report, tag):
    return [
        row
        for row in report["python"]
        if Path(row["site"]["file"] or "?").name == "script.py" and row["site"]["line"] == LINES[tag]
    ]


def types_at(report, tag, leaked=False):
    """{type: (blocks, bytes)} of the objects that are reached, or of those that are lost."""
    return {
        one["type"]: (one["blocks"], one["bytes"])
        for row in rows_at(report, tag)
        for one in row["types"] or []
        if row["leaked"] == leaked
    }


def test_exact_types(run):
    """Types that have no free lists: every block, a bytearray's buffer too."""
    report = run.report(*EVERY_ROW)
    assert schema_problems(report) + total_problems(report) == []
    assert types_at(report, "@bytes")["bytes"] == (1000, 1000 * (BYTES_OBJECT + 1000))
    assert types_at(report, "@bytearray")["bytearray"] == (2000, 1000 * (BYTEARRAY_OBJECT + 1001))
    blocks, size = types_at(report, "@slots")["Slots"]
    assert blocks == 1000 and 24_000 <= size <= 48_000


def test_containers_have_their_buffers(run):
    """Some came from a free list, and are the line's that made them first."""
    report = run.report(*EVERY_ROW)
    kinds = {tag: types_at(report, tag) for tag in ("@list", "@dict", "@box", "@shared")}
    blocks, size = kinds["@list"]["list"]
    assert 1900 <= blocks <= 2000 and 850_000 <= size <= 1000 * (56 + 800), kinds
    blocks, size = kinds["@dict"]["dict"]
    assert 1800 <= blocks <= 2000 and size >= 150_000 and "float" not in kinds["@dict"], kinds
    assert kinds["@box"]["Box"][0] >= 1000 and kinds["@shared"]["tuple"][0] >= 900, kinds
    for tag, types in kinds.items():
        reached = [row for row in rows_at(report, tag) if not row["leaked"]]
        assert sum(size for _, size in types.values()) <= sum(row["live_bytes"] for row in reached)


def test_three_of_many(run):
    report = run.report(*EVERY_ROW)
    assert list(types_at(report, "@mixed"))[:2] == ["bytes", "bytearray"]
    assert len(types_at(report, "@mixed")) == 3


def test_types_of_what_is_lost(run):
    """Where live objects of the site's stand beside them, they are told apart."""
    report = run.report(*EVERY_ROW)
    lost = types_at(report, "@lost", leaked=True)
    assert lost["bytes"] == (100, 100 * (BYTES_OBJECT + 500)) and lost["list"][0] >= 90, lost
    assert "of type: bytes 52.1 KiB" in command("report", run.out).stdout.decode()


def test_half_of_a_line_is_lost(run_script):
    """Every block that the lost instances have, their attributes' arrays too, and none of the live ones."""
    report = run_script(
        "import gc\ngc.disable()\nkeep = []\n"
        "class Node:\n    def __init__(self, size):\n        self.data = bytearray(size)\n        self.me = None\n"
        "def make(size):\n    return Node(size)  # 9\n"
        "for i in range(100):\n    a = make(1000)\n    if i % 2:\n        a.me = a\n    else:\n        keep.append(a)\n"
        "del a\n"
    )
    rows = {row["leaked"]: row for row in report["python"] if row["site"]["function"] == "make"}
    types = {leaked: {one["type"]: one["blocks"] for one in row["types"]} for leaked, row in rows.items()}
    assert rows[True]["live_blocks"] == types[True]["Node"] >= 50 and list(types[True]) == ["Node"], rows
    assert abs(rows[True]["live_blocks"] - rows[False]["live_blocks"]) <= 10, rows
    assert rows[True]["held_by"] is None and rows[False]["held_by"], rows


def test_types_in_words(run):
    text = command("report", run.out).stdout.decode()
    assert "of type: bytearray 1.01 MiB" in text, text


def test_pools_held_by_few_blocks(out, tmp_path):
    """Every thousandth block of a size stays: a hundred pools of 16 KiB, each with one block, cannot be used for
    anything else."""
    script = (
        "keep = []\ndef fill():\n    passing = []\n    for i in range(100_000):\n"
        "        passing.append(bytes(200))\n        if i % 1000 == 0: keep.append(bytes(203))\nfill()\n"
    )
    (tmp_path / "script.py").write_text(script)
    run = beside([sys.executable, "script.py"], out=out, options=["--py"], cwd=tmp_path)
    arenas = run.report()["python_arenas"]
    first = arenas["pinned_by"][0]
    assert first["site"]["function"] == "fill" and first["site"]["line"] == 6 and 95 <= first["blocks"] <= 100
    pool = 4096 if sys.version_info < (3, 10) else 16384
    assert 95 * (pool - 5 * 236) <= first["bytes"] <= 100 * pool, arenas
    assert sum(row["bytes"] for row in arenas["pinned_by"]) <= arenas["pinned_bytes"] <= arenas["free_bytes"]
    text = command("report", run.out).stdout.decode()
    assert f"pinned by {first['blocks']} blocks of fill script.py:6" in text, text
