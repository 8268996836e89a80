"""LeakSanitizer beside heaptide on every planted program: direct and indirect bytes and blocks have to be equal,
but for the differences that DIFFERENT names."""

import dataclasses

import pytest

import expectations
import heaptide_run
from conftest import PLANTED
from lsan_run import Totals, lsan_totals

# program -> (why the two differ, what LeakSanitizer says). heaptide's own figures are in the program's head.
DIFFERENT = {
    "zero_bytes.c": ("a block of 0 bytes counts 1 in LeakSanitizer", Totals(3, 3, 0, 0)),
    "mmap_holds.c": ("LeakSanitizer does not look into mappings", Totals(500, 1, 0, 0)),
    "roots_memfd.c": ("LeakSanitizer takes no mapping of a file for a root", Totals(100, 1, 0, 0)),
    "mmap_lost_chain.c": ("LeakSanitizer sees no mappings: what a lost one holds is direct", Totals(500, 1, 0, 0)),
}
# program -> why LeakSanitizer has nothing reliable to say about it. test_planted.py holds heaptide to its figures.
NOT_COMPARED = {
    "big_block.c": "LeakSanitizer's own globals point, by chance, into a block as large as this one",
    "dead_stack.c": "the copies below the stack pointer lie inside LeakSanitizer's own frames",
    "libc_malloc.c": "LeakSanitizer does not stand in front of glibc's own names for malloc",
    "errno_kept.c": "LeakSanitizer's realloc to size 0 sets errno",
    "stack_of_own_memory.c": "LeakSanitizer sees no mapping that the program made by itself",
    "mapped_blocks.c": "the program reads glibc's headers, and LeakSanitizer's malloc has others",
}
STATED = sorted(
    path for path in PLANTED.glob("*.c*") if "// expect " in path.read_text() and path.name not in NOT_COMPARED
)


def stated_totals(source):
    expectation = expectations.read(source)
    return Totals(*expectation.direct, *expectation.indirect)


@pytest.mark.parametrize("source", STATED, ids=lambda path: path.name)
def test_lsan_agrees_with_the_program(source, tmp_path):
    """The oracle against the planted figures, without heaptide: this tests the tests."""
    status = expectations.read(source).status
    found, text = lsan_totals(source, tmp_path, status=status)
    if source.name in DIFFERENT:
        assert found == DIFFERENT[source.name][1], text
        assert found != stated_totals(source), f"{source.name} no longer differs: take it out of DIFFERENT"
    else:
        assert found == stated_totals(source), text


def heap_totals(report):
    totals = Totals()
    for row in report["leaks"]:
        if row["kind"] == "heap" and not row["suppressed"]:
            totals.direct_bytes += row["direct_bytes"]
            totals.indirect_bytes += row["indirect_bytes"]
    return totals


@pytest.mark.parametrize("source", STATED, ids=lambda path: path.name)
def test_heaptide_agrees_with_lsan(source, planted, tmp_path, out):
    status = expectations.read(source).status
    oracle, text = lsan_totals(source, tmp_path, status=status)
    blocks = oracle.direct_blocks + oracle.indirect_blocks
    if source.name in DIFFERENT:
        oracle = stated_totals(source)
        blocks = oracle.direct_blocks + oracle.indirect_blocks
    run = heaptide_run.traced([planted(source.name, family="clang")], out=out, options=["-q"])
    report = run.report()
    found = heap_totals(report)
    assert (found.direct_bytes, found.indirect_bytes) == (oracle.direct_bytes, oracle.indirect_bytes), text
    heap_blocks = sum(row["blocks"] for row in report["leaks"] if row["kind"] == "heap" and not row["suppressed"])
    assert heap_blocks == blocks, f"{dataclasses.asdict(oracle)}\n{text}"
