"""Report files that no recorder wrote: the reader ends soon, with 2 and one line, and asks for no absurd memory."""

import os
import re
import struct
import zlib

import pytest

from heaptide_run import command, read_reports
from report_files import Report, file_bytes, folder_of, make_report

THREAD_STATES = 28
DEMO = make_report.demo().data(make_report.DEMO_POINTS)


def refused(tmp_path, data):
    """The line that says why a file is refused."""
    folder = folder_of(tmp_path, data)
    done = command("report", folder, timeout=20)
    assert done.status == 2 and done.stdout == b"", done.describe()
    (line,) = done.stderr.splitlines()
    assert re.fullmatch(r"heaptide: .*heaptide\.1\.bin: .+; .+", line), line
    return line


def owned_sections():
    """A site of a thread's and one of nobody's."""
    report = Report()
    report.site(report.stack(("jit", "f", 1)), peak=(10, 1), owner=report.owner(7, "worker"))
    report.site(report.stack(("jit", "f", 1)), peak=(5, 1))
    return report.sections()


def demo_sections():
    return make_report.demo().sections(make_report.DEMO_POINTS)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 31, 32, 33, 64, 100, 500, len(DEMO) // 2, len(DEMO) - 1])
def test_cut(size, tmp_path):
    assert "cut short" in refused(tmp_path, DEMO[:size])


def test_glued_twice(tmp_path):
    assert "not one report" in refused(tmp_path, DEMO + DEMO)


def test_another_kind_of_file(tmp_path):
    assert "not a heaptide report" in refused(tmp_path, b"\x7fELF" + bytes(100))


def test_newer_version(tmp_path):
    assert "written by a newer heaptide" in refused(tmp_path, file_bytes(demo_sections(), version=2))


def test_unknown_section_is_skipped(tmp_path):
    folder = folder_of(tmp_path, file_bytes({**demo_sections(), 4711: b"from the future"}))
    assert command("report", folder).status == 1


@pytest.mark.parametrize("zstd", [False, True])
def test_flipped_bits(zstd, tmp_path):
    data = file_bytes(demo_sections(), zstd=zstd)
    for place in range(0, len(data), 37):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        refused(tmp_path, bytes(damaged))


def test_section_that_claims_much(tmp_path):
    """2^60 bytes behind a right checksum."""
    body = make_report.compressed(bytes(100))
    start = make_report.HEADER.size + make_report.SECTION.size
    table = make_report.SECTION.pack(1, 1, start, len(body), 1 << 60, zlib.crc32(body), 0)
    assert "claims" in refused(tmp_path, make_report.sealed(table, body, 1))


def test_section_count_that_claims_much(tmp_path):
    assert "too small for" in refused(tmp_path, make_report.sealed(b"", b"", 0xFFFFFFFF))


def test_small_file_that_unpacks_to_much(tmp_path):
    sections = {**demo_sections(), 4: bytes(100 << 20)}
    assert "claims" in refused(tmp_path, file_bytes(sections, zstd=True))


def test_sections_over_each_other(tmp_path):
    body = bytes(64)
    start = make_report.HEADER.size + 2 * make_report.SECTION.size
    entry = [make_report.SECTION.pack(number, 0, start, 64, 64, zlib.crc32(body), 0) for number in (1, 2)]
    assert "lie" in refused(tmp_path, make_report.sealed(b"".join(entry), body, 2))


def test_section_twice(tmp_path):
    body = bytes(8)
    start = make_report.HEADER.size + 2 * make_report.SECTION.size
    entries = [make_report.SECTION.pack(4711 if i < 0 else 2, 0, start + 8 * i, 8, 8, zlib.crc32(body), 0)
               for i in range(2)]  # fmt: skip
    assert "twice" in refused(tmp_path, make_report.sealed(b"".join(entries), body * 2, 2))


def rows(*values):
    return b"".join(struct.pack("<II", *value) for value in values)


# What is written over which section, and a word of what is said about it.
GPU_SITE_TIMELINE = 33  # file_format.h
BAD_SECTIONS = {
    "a stack in a circle": (make_report.NODES, rows((0, 0), (2, 1), (1, 1)), "circle"),
    "a stack of itself": (make_report.NODES, rows((0, 0), (1, 1)), "circle"),
    "a node without frame": (make_report.NODES, rows((0, 0), (0, 99)), "stack"),
    "states of other threads": (THREAD_STATES, bytes(3 * 16), "threads"),
    "half a row": (make_report.NODES, bytes(12), "rows"),
    "no process": (make_report.PROCESS, b"", "process"),
    "strings without end": (make_report.STRINGS, b"\0abc", "strings"),
    "no strings": (make_report.STRINGS, b"", "strings"),
    "a frame in no module": (make_report.FRAMES, bytes(24) + struct.pack("<IIIIQ", 1, 99, 0, 0, 0), "frame"),
    "a frame of no kind": (make_report.FRAMES, bytes(24) + struct.pack("<IIIIQ", 9, 0, 0, 0, 0), "frame"),
    "a site of no kind": (make_report.SITES, bytes(72) + struct.pack("<IHH8Q", 0, 9, 0, *range(8)), "site"),
    "a leak of no site": (make_report.LEAKS, struct.pack("<IIQQQQ", 77, 0, 1, 1, 0, 0), "site"),
    "a leak of site 0": (make_report.LEAKS, struct.pack("<IIQQQQ", 0, 0, 1, 1, 0, 0), "site"),
    "links beyond their end": (make_report.HOLDERS, struct.pack("<IIII", 1, 3, 0xFFFFFFFF, 0), "holder"),
    "a thread without name": (make_report.THREADS, struct.pack("<IIQ", 1, 0xFFFFFFF, 0), "text"),
    "points beyond their end": (make_report.SITE_TIMELINE, struct.pack("<II", 0xFFFFFFFF, 1), "timeline"),
    "a mark without name": (make_report.MARKS, struct.pack("<IIQQ", 99, 0, 5, 5), "mark"),
    "marks that go back": (make_report.MARKS, struct.pack("<IIQQIIQQ", 0, 0, 5, 5, 0, 0, 4, 5), "mark"),
    "half a mark": (make_report.MARKS, bytes(20), "rows"),
    "a mark's name that is no text": (make_report.MARK_NAMES, struct.pack("<IIQQQQQ", 1 << 30, 0, *[1] * 5), "mark"),
    "a name of no mark": (make_report.MARK_NAMES, struct.pack("<IIQQQQQ", 0, 0, 0, 1, 1, 1, 1), "mark"),
    "a last mark before the first": (make_report.MARK_NAMES, struct.pack("<IIQQQQQ", 0, 0, 1, 2, 1, 1, 1), "mark"),
    "calls of fewer samples": (make_report.TIMELINE_CALLS, bytes(16), "calls"),
    "calls that were undone": (make_report.TIMELINE_CALLS, struct.pack("<QQ", 9, 9) * 19 + bytes(16), "calls"),
    "rows beyond their end": (make_report.SITE_TIMELINE, struct.pack("<II", 0, 0xFFFFFFFF), "timeline"),
    "rows of a GPU beyond their end": (GPU_SITE_TIMELINE, struct.pack("<II", 0, 0xFFFFFFFF), "timeline"),
    "a GPU's curve of no site": (GPU_SITE_TIMELINE, struct.pack("<IIII", 0, 1, 77, 0), "timeline"),
}


@pytest.mark.parametrize("name", BAD_SECTIONS)
def test_bad_section(name, tmp_path):
    number, raw, word = BAD_SECTIONS[name]
    line = refused(tmp_path, file_bytes({**demo_sections(), number: raw}))
    assert "damaged" in line and word in line


BAD_OWNERS = {
    "threads of fewer sites": (make_report.SITE_OWNERS, struct.pack("<II", 0, 1)),
    "a thread that is none": (make_report.SITE_OWNERS, struct.pack("<III", 0, 1, 2)),
    "sites' threads without threads": (make_report.OWNERS, b""),
    "threads without sites": (make_report.SITE_OWNERS, b""),
    "a thread's name that is no text": (make_report.OWNERS, bytes(8) + struct.pack("<II", 7, 1 << 30)),
}


@pytest.mark.parametrize("name", BAD_OWNERS)
def test_bad_threads(name, tmp_path):
    number, raw = BAD_OWNERS[name]
    line = refused(tmp_path, file_bytes({**owned_sections(), number: raw}))
    assert "damaged" in line and "thread" in line


def test_a_name_whose_growth_is_absurd(tmp_path):
    """From all bits set to nothing within two marks, and back."""
    for first, last in ((0, 2**64 - 1), (2**64 - 1, 0)):
        row = struct.pack("<IIQQQQQ", 0, 0, 2, 1, 2, first, last)
        sections = {**demo_sections(), make_report.MARK_NAMES: row, make_report.MARKS: b""}
        done = command("report", folder_of(tmp_path, file_bytes(sections)), timeout=20)
        assert done.status == 1 and b"MARKS" in done.stdout, done.describe()


def test_a_file_from_before_there_were_marks(tmp_path):
    """A report without the sections says that it does not know, and all else is as it was."""
    newer = {make_report.MARK_NAMES, make_report.MARKS, make_report.TIMELINE_CALLS}
    old = {number: raw for number, raw in demo_sections().items() if number not in newer}
    (report,) = read_reports(folder_of(tmp_path, file_bytes(old)), "--fail-on", "none")
    assert report["marks"] == [] and set(report["timeline"]["allocations"]) == {None}
    assert len(report["timeline"]["temporaries"]) == len(report["timeline"]["seconds"]) == 20
    assert b"MARKS" not in command("report", tmp_path / "reports").stdout
    for form in ("chrome", "csv"):
        done = command("export", tmp_path / "reports", "--format", form, "-o", tmp_path / form)
        assert done.status == 0, done.describe()


def test_what_can_be_read_is_shown(tmp_path):
    folder = folder_of(tmp_path, Report(pid=1).data(), DEMO[:-1], Report(pid=3).data())
    done = command("report", folder, "--json")
    assert done.status == 2 and done.stdout.count(b"\n") == 2
    assert "heaptide.2.bin: cut short" in done.stderr and done.stderr.count("\n") == 1


def test_pipe_in_place_of_a_file_makes_nobody_wait(tmp_path):
    folder = folder_of(tmp_path)
    os.mkfifo(folder / "heaptide.1.bin")
    done = command("report", folder, timeout=20)
    assert done.status == 2 and "not a regular file" in done.stderr


def test_very_deep_stack(tmp_path):
    """A chain of 200,000 nodes needs no deep recursion."""
    report = Report(depth=0)
    report.site(report.stack(*[("jit", "f", 1 + i % 2) for i in range(200_000)]), peak=(1, 1))
    done = command("report", folder_of(tmp_path, report.data()), timeout=60)
    assert done.status == 0 and b"more frames" in done.stdout
