"""Mojo programs: the heap of Mojo's runtime block by block, its GPU buffers, and what its runtime does for itself."""

import sys

import pytest

import expectations
import gpu_gear
import heaptide_run
import mojo_gear

SECONDS = 180
LOST_BLOCKS, LOST_BYTES = 100, 100 * 40960


def lines_of(name):
    return expectations.tagged_lines((mojo_gear.PROGRAMS / name).read_text())


def heap_leaks(report):
    return [row for row in report["leaks"] if row["kind"] == "heap"]


def check_leak_one(report, name, function, stacks=1):
    """The 100 blocks are exact, direct and the only ones, at the line that loses them, by at most so many stacks."""
    rows = heap_leaks(report)
    figures = [sum(row[key] for row in rows) for key in ("direct_bytes", "indirect_bytes", "blocks")]
    assert figures == [LOST_BYTES, 0, LOST_BLOCKS] and len(rows) <= stacks, rows
    sites = [(row["site"]["function"], row["site"]["file"], row["site"]["line"]) for row in rows]
    assert set(sites) == {(function, str(mojo_gear.PROGRAMS / name), lines_of(name)["@leak"])}


def test_built_program(out):
    run = heaptide_run.beside([mojo_gear.build("leak")], out=out, timeout=SECONDS)
    report = run.report()
    check_leak_one(report, "leak.mojo", "leak::leak_one")
    assert report["summary"]["leaked_direct_bytes"] == LOST_BYTES
    names = [frame["function"] for frame in report["leaks"][0]["stack"]]
    assert names[:4] == ["_malloc", "_alloc_bytes", "alloc", "leak::leak_one"], names
    # tcmalloc's reservations of 1 GiB are not memory, and what it commits of them is counted through its blocks.
    assert report["summary"]["by_kind"]["mmap"]["allocations"] == 0
    assert not report["notes"]


def test_shown_from_the_first_frame_of_the_program(out):
    run = heaptide_run.traced([mojo_gear.build("leak")], out=out, timeout=SECONDS)
    text = heaptide_run.command("report", run.out).stdout.decode()
    leak = text[text.index("LEAKS") :].splitlines()
    assert leak[1].split() == ["3.91", "MiB", "in", "100", "blocks", "of", "heap,", "direct"]
    function, place = leak[2].split()
    assert function == "leak::leak_one"
    assert place.endswith(f"leak.mojo:{lines_of('leak.mojo')['@leak']}")


def test_worker_threads(out):
    program = mojo_gear.build("worker", max_core=True)
    report = heaptide_run.beside([program], out=out, timeout=SECONDS).report()
    # Another way leads to the loop where a thread takes a part of it that waits for the others.
    check_leak_one(report, "worker.mojo", "worker::leak_one", stacks=2)


@pytest.mark.parametrize("options", [(), ("--py",)], ids=["native", "py"])
def test_library_that_python_opens(out, options):
    library = mojo_gear.build("library", "--emit", "shared-lib")
    program = [sys.executable, mojo_gear.PROGRAMS / "load.py", library]
    report = heaptide_run.beside(program, out=out, options=options, timeout=SECONDS).report()
    check_leak_one(report, "library.mojo", "library::leak_one")
    if options:
        assert any(frame["lang"] == "python" and frame["line"] == 9 for frame in report["leaks"][0]["stack"])


def test_every_size_and_a_chain(out):
    report = heaptide_run.beside([mojo_gear.build("sizes")], out=out, timeout=SECONDS).report()
    lines = lines_of("sizes.mojo")
    found = {
        row["site"]["line"]: (row["direct_bytes"], row["indirect_bytes"], row["blocks"]) for row in heap_leaks(report)
    }
    assert found == {lines["@lose"]: (sum(range(1, 101)), 0, 100), lines["@chain"]: (32, 9 * 32, 10)}


def test_mojo_run(out, tmp_path):
    mojo = mojo_gear.compiler()
    program = [mojo, "run", mojo_gear.PROGRAMS / "leak.mojo"]
    run = heaptide_run.traced(program, out=out, env={"XDG_CACHE_HOME": tmp_path}, timeout=SECONDS)
    assert run.status == 0 and run.stdout == b"sum 4950\n", run.describe()
    report = run.report()
    row = heap_leaks(report)[0]
    assert (row["direct_bytes"], row["indirect_bytes"], row["blocks"]) == (LOST_BYTES, 0, LOST_BLOCKS)
    assert [frame["function"].split(" 0x")[0] for frame in row["stack"]] == ["[anonymous code"]
    assert any("stacks end at its innermost frame" in note for note in report["notes"]), report["notes"]


def gpu_rows(report):
    return {
        (row["kind"], row["site"]["function"], row["site"]["line"]): (row["direct_bytes"], row["blocks"])
        for row in report["leaks"]
        if row["kind"] in ("device", "pinned")
    }


# Mojo's pool of device memory by reserving, creating and mapping.
BY_MAPPING = {"MODULAR_DEVICE_CONTEXT_MEMORY_MANAGER_VMM": "1"}


@pytest.mark.parametrize("memory", [{}, BY_MAPPING], ids=["malloc", "mapping"])
def test_gpu_buffers(out, memory):
    program = mojo_gear.build("buffers", max_core=True)
    environment = {**gpu_gear.simulated(7), **memory}
    run = heaptide_run.traced([program], out=out, options=["--gpu"], env=environment, timeout=SECONDS)
    assert run.status == 0 and run.stdout == b"done\n", run.describe()
    report = run.report()
    lines = lines_of("buffers.mojo")
    assert gpu_rows(report) == {
        ("device", "buffers::lose_device", lines["@device"]): (5 << 20, 5),
        ("pinned", "buffers::lose_host", lines["@host"]): (3 * 40960, 3),
    }
    device = report["summary"]["by_kind"]["device"]
    assert (device["live_bytes"], device["allocations"], device["allocated_bytes"]) == (5 << 20, 6, 7 << 20)


# Mojo's health check of a GPU; the real one is a Python program of ROCm.
AMD_SMI = """#!{python}
import ctypes
malloc = ctypes.CDLL(None).malloc
malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
for _ in range(8):
    malloc(1 << 20)
print("THROTTLE_STATUS: UNTHROTTLED")
"""


def test_gpu_pool_and_helpers(out, tmp_path):
    """Without --gpu the runtime's pools are one block each, named as such and no leak; what the runtime starts to look
    after the GPU is not the user's, whatever it loses."""
    program = mojo_gear.build("buffers", max_core=True)
    script = tmp_path / "amd-smi"
    script.write_text(AMD_SMI.format(python=sys.executable))
    script.chmod(0o755)
    environment = {**gpu_gear.simulated(7), "PATH": f"{tmp_path}:/usr/bin:/bin"}
    run = heaptide_run.traced([program], out=out, env=environment, timeout=SECONDS)
    assert run.status == 0, run.describe()
    assert gpu_rows(run.report()) == {}
    text = heaptide_run.command("report", run.out).stdout.decode()
    assert [line.split("of ")[1].split(" at")[0] for line in text.splitlines() if " in a pool at the peak" in line] == [
        "device in a pool",
        "pinned in a pool",
    ]
    helpers = [report for report in run.reports() if not report["main"]]
    assert any("amd-smi" in word for report in helpers for word in report["argv"]), helpers
    assert sum(report["summary"]["leaked_direct_bytes"] for report in helpers) >= 4 << 20
    assert all(report["quiet"] for report in helpers)
    quiet = [line for line in text.splitlines() if line.startswith("QUIET")]
    assert len(quiet) == len(helpers)
    assert all(line.endswith("started by Mojo's runtime for itself") for line in quiet), quiet
    assert run.own_stderr[-1].startswith("heaptide: 1 process, "), run.describe()


def test_gpu_pool_by_mapping(out):
    """The pool is what was created, not the addresses that were reserved for it."""
    program = mojo_gear.build("buffers", max_core=True)
    run = heaptide_run.traced([program], out=out, env={**gpu_gear.simulated(7), **BY_MAPPING}, timeout=SECONDS)
    assert run.status == 0, run.describe()
    report = run.report()
    device = report["summary"]["by_kind"]["device"]
    assert gpu_rows(report) == {} and device["allocations"] == 1 and 7 << 20 < device["live_bytes"] < 1 << 30, device
    text = heaptide_run.command("report", run.out).stdout.decode()
    assert " of device in a pool at the peak" in text and " of addresses reserved, which is no memory" in text
