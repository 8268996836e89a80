"""Memory that extensions take for Python code, each at the line of Python that called them, with exact bytes."""

import importlib.util
import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import program_build
from expectations import tagged_lines
from heaptide_run import beside, execute
from python_versions import PYTHONS
from report_schema import schema_problems, total_problems

PROGRAMS = Path(__file__).resolve().parent / "python"
ROWS = 1000  # PyTorch's start has a hundred thousand
HEADERS = sysconfig.get_paths()["include"]


def trace(argv, out, *options, **how):
    report = beside(argv, out=out, options=["--py", *options], **how).report("--top", str(ROWS))
    assert schema_problems(report) + total_problems(report, top=ROWS) == []
    return report


def lines_of(row):
    """(file, function, line) of each frame of Python's, innermost first."""
    frames = [frame for frame in row["stack"] if frame.get("lang", "python") == "python"]
    return [(Path(frame["file"] or "?").name, frame["function"], frame["line"]) for frame in frames]


# ---- functions that call malloc


def cython_source(folder):
    """The C of tests/python/extension.pyx."""
    if not importlib.util.find_spec("Cython"):
        pytest.skip("Cython is not installed: pip install -r tests/requirements.txt")
    words = ["-m", "cython", PROGRAMS / "extension.pyx", "-o", folder / "extension.c"]
    subprocess.run([sys.executable, *words], check=True)
    return folder / "extension.c", []


def pybind11_source(folder):
    pybind11 = pytest.importorskip("pybind11", reason="pybind11 is not installed: tests/requirements.txt has it")
    return PROGRAMS / "extension.cc", ["-std=c++17", "-g0", f"-I{pybind11.get_include()}"]


SOURCES = {"cython": cython_source, "pybind11": pybind11_source}


@pytest.fixture(params=SOURCES)
def extension(request, tmp_path):
    """(its kind, the extension module, built for the interpreter of the tests)"""
    if not Path(HEADERS, "Python.h").exists():
        pytest.skip(f"no headers of {sys.executable}")
    source, flags = SOURCES[request.param](tmp_path)
    return request.param, program_build.build(source, flags=["-shared", "-fPIC", f"-I{HEADERS}", *flags])


@pytest.mark.parametrize("depth", [1, 2])
def test_blocks_of_a_compiled_function(extension, depth, out):
    """Its native frames come first, then the line that called it, which is the site where the function has none (the
    one for pybind11 is built without debug info)."""
    kind, module = extension
    program = PROGRAMS / "extension.py"
    report = trace([sys.executable, program, module], out, "--py-depth", str(depth), "--depth", "64")
    lost = [row for row in report["leaks"] if (program.name, "outer") in {line[:2] for line in lines_of(row)}]
    assert sum(row["direct_bytes"] + row["indirect_bytes"] for row in lost) == 30 * 70_000, lost
    assert sum(row["blocks"] for row in lost) == 30
    tags = tagged_lines(program.read_text())
    callers = [(program.name, "outer", tags["@lost"]), (program.name, "<module>", tags["@module"])]
    for row in lost:
        assert lines_of(row)[: len(callers[:depth])] == callers[:depth]
        assert row["stack"][0]["lang"] == "native" and "lose" in row["stack"][0]["function"], row["stack"][:3]
        assert row["site"]["line"] == (tags["@lost"] if kind == "pybind11" else row["stack"][0]["line"]), row["site"]


# ---- ctypes: its buffers are blocks of Python's own allocators


@pytest.mark.parametrize("name", PYTHONS)
def test_buffers_of_ctypes(name, out):
    """Each is a block of its size beside its object's; those of create_string_buffer are taken inside ctypes."""
    program = PROGRAMS / "buffers.py"
    expected = json.loads(execute([PYTHONS[name], program, "measure"]).stdout)
    report = trace([PYTHONS[name], program], out, "--py-depth", "2")
    tags = tagged_lines(program.read_text())
    for tag, size in ("@string", 300_000), ("@array", 200_000), ("@structure", 10_000):
        here = (program.name, "fill", tags[tag])
        (row,) = [row for row in report["python"] if here in lines_of(row) and row["live_bytes"] >= 10 * size]
        assert (row["live_bytes"], row["live_blocks"]) == (expected[str(tags[tag])], 20), row
        assert row["live_bytes"] < 10 * (size + 500)
        inner = lines_of(row)[0]
        assert inner[:2] == ("__init__.py", "create_string_buffer") if tag == "@string" else inner == here


# ---- PyTorch


TENSORS = """\
import torch
kept = {}
def fill():
    kept["weights"] = torch.zeros(300, 1000)  # @zeros
    kept["doubled"] = kept["weights"] * 2  # @product
    kept["bytes"] = [torch.empty(123_457, dtype=torch.uint8) for _ in range(5)]  # @bytes
fill()
print(kept["doubled"].sum().item(), torch.__name__)
"""
TENSOR_BYTES = {"@zeros": (300 * 1000 * 4, 1), "@product": (300 * 1000 * 4, 1), "@bytes": (5 * 123_457, 5)}


def test_tensors_in_host_memory(tmp_path, out):
    """The storage of each is a block of the native heap, of exactly its elements, at the line that asked for it."""
    if not importlib.util.find_spec("torch"):
        pytest.skip("torch is not installed: tests/requirements.txt has it for the Pythons it exists for")
    (tmp_path / "tensors.py").write_text(TENSORS)
    report = trace([sys.executable, "tensors.py"], out, cwd=tmp_path, timeout=200)
    tags = tagged_lines(TENSORS)
    for tag, (size, blocks) in TENSOR_BYTES.items():
        rows = [
            row
            for row in report["peak"]
            if row["kind"] == "heap"
            and row["bytes"] >= 100_000
            and [line[2] for line in lines_of(row)[:1] if line[0] == "tensors.py"] == [tags[tag]]
        ]
        assert sum(row["bytes"] for row in rows) == size and sum(row["blocks"] for row in rows) == blocks, (tag, rows)
        assert {row["site"]["file"] for row in rows} == {str(tmp_path / "tensors.py")}, rows
