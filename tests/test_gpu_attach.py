"""GPU memory of a process that was attached to."""

from contextlib import contextmanager

import pytest

import expectations
import gpu_gear
from heaptide_run import EVERY_ROW, read_reports
from report_schema import schema_problems, total_problems
from test_attach import bare, done, handlers, memory
from test_gpu_simulated import build

LINES = expectations.tagged_lines((gpu_gear.PROGRAMS / "attached.c").read_text())
MIB = 1 << 20


@contextmanager
def simulated():
    """On the second of two devices."""
    program, environment = build("attached.c")
    with bare([program, "1"], environment) as process:
        yield process


@contextmanager
def on_runtime():
    environment = gpu_gear.real_runtime()
    with bare([gpu_gear.program("attached.c", flags=["-lamdhip64", "-ldl"]), "0"], environment) as process:
        yield process


MACHINES = {"simulated": (simulated, 1), "runtime": (on_runtime, 0)}


def tell(process, word):
    process.stdin.write(f"{word}\n")
    process.stdin.flush()
    assert process.stdout.readline() == f"{word}\n"


def device_sites(report):
    return {row["site"]["line"]: row["bytes"] for row in report["peak"] if row["kind"] == "device"}


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_are_bound_already(machine, out, tmp_path):
    """Blocks by line, stream and the device that the thread had set before; what came before is no block, and its end
    no free."""
    run_on, device = MACHINES[machine]
    with run_on() as process:
        slots, own = memory(process.pid), handlers(process.pid)
        done("attach", process.pid, "--gpu-timeline", "all", "--out", out)
        for word in ("hold", "flow"):
            tell(process, word)
        done("snapshot", out, "--label", "full")
        tell(process, "drop")
        tell(process, "name")
        done("detach", out)
        assert memory(process.pid) == slots and handlers(process.pid) == own
        tell(process, "hold")
        tell(process, "name")  # the program has the wrapper's address for good
        done("attach", process.pid, "--gpu-timeline", "streams", "--out", tmp_path / "again")
        tell(process, "flow")
        done("detach", tmp_path / "again")
    ((full,), (last,), (again,)) = [
        read_reports(folder, *EVERY_ROW) for folder in (out / "full", out, tmp_path / "again")
    ]
    for report in (full, last, again):
        assert not schema_problems(report) and not total_problems(report)
        assert any("GPU memory from before" in note for note in report["notes"]), report["notes"]
        assert report["growth"]["device"]["verdict"] == "n/a"
    assert device_sites(full) == {LINES["@held"]: 2 * MIB, LINES["@streamed"]: MIB}
    (row,) = full["gpu"]["devices"]
    assert (row["device"], row["live_bytes"], row["peak_bytes"]) == (device, 3 * MIB, 3 * MIB)
    (stream,) = full["gpu"]["streams"]
    assert (stream["live_bytes"], stream["allocations"]) == (MIB, 1)
    (curve,) = full["timeline"]["streams"]
    assert curve["bytes"][0] == 0 and curve["bytes"][-1] == MIB
    assert full["timeline"]["device"][-1] == 3 * MIB and full["gpu"]["fragmentation"] is not None
    use = last["summary"]["by_kind"]["device"]
    assert (use["allocations"], use["live_bytes"], use["peak_bytes"]) == (3, 2 * MIB + (512 << 10), 3 * MIB)
    assert last["timeline"]["streams"][0]["bytes"][-1] == 0
    assert again["summary"]["by_kind"]["device"]["live_bytes"] == MIB
    assert [row["device"] for row in again["gpu"]["devices"]] == [device]


def test_rounds_beside_calls_that_are_under_way(tmp_path):
    with simulated() as process:
        slots = memory(process.pid)
        for _ in range(4):
            tell(process, "busy")
        for number in range(6):
            done("attach", process.pid, "--gpu-timeline", "all", "--out", tmp_path / str(number))
            tell(process, "hold")
            done("detach", tmp_path / str(number))
            assert memory(process.pid) == slots
        process.stdin.close()
        assert process.wait(20) == 0
    (report,) = read_reports(tmp_path / "5", *EVERY_ROW)
    assert not total_problems(report)
    assert device_sites(report)[LINES["@held"]] == 2 * MIB and report["summary"]["frees"] > 10


def test_blocks_that_are_there_at_the_end(out):
    with simulated() as process:
        done("attach", process.pid, "--out", out)
        tell(process, "hold")
        tell(process, "name")
        process.stdin.close()
        assert process.wait(20) == 0
    (report,) = read_reports(out)
    lost = {leak["site"]["line"]: leak["direct_bytes"] for leak in report["leaks"] if leak["kind"] == "device"}
    assert lost == {LINES["@held"]: 2 * MIB, LINES["@named"]: 512 << 10}
    assert report["timeline"]["streams"] == []


def test_a_runtime_that_is_loaded_later(out):
    """By dlopen in a local scope, and its functions by dlsym, as Python's clients have it."""
    environment = gpu_gear.simulated()
    script = """
import ctypes, sys
print("ready", flush=True)
sys.stdin.readline()
library = ctypes.CDLL("libamdhip64.so.6")
block = ctypes.c_void_p()
assert library.hipMalloc(ctypes.byref(block), ctypes.c_size_t(3 << 20)) == 0
print("made", flush=True)
sys.stdin.read()
"""
    with bare(["/usr/bin/python3", "-c", script], environment) as process:
        done("attach", process.pid, "--gpu-timeline", "sites", "--out", out)
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "made\n"
        done("detach", out)
    (report,) = read_reports(out)
    assert report["summary"]["by_kind"]["device"]["live_bytes"] == 3 * MIB
    assert not any("GPU" in note for note in report["notes"])
