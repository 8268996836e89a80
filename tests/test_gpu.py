"""GPU memory on the real HIP runtime (Debian's libamdhip64.so.5), which runs on a GPU made of host memory."""

import re

import pytest

import expectations
import gpu_gear
import heaptide_run
from report_schema import schema_problems, total_problems

PLANTED = [
    "hip_lost.c",
    "hip_every_call.c",
    "hip_handles.c",
    "hip_refused.c",
    "hip_threads.c",
    "hip_comes_and_goes.c",
]
OF_5_2 = ["hip_handles.c", "hip_refused.c"]
# The runtime starts threads and loads its compiler: no comparison of times.
SECONDS = 120


def run_on_runtime(program, out, options=(), **environment):
    environment = {**gpu_gear.real_runtime(), **environment}
    run = heaptide_run.traced([program], out=out, options=options, env=environment, timeout=SECONDS)
    assert run.status == 0, run.describe()
    return run


@pytest.mark.parametrize("name", PLANTED)
def test_planted(name, out):
    if name in OF_5_2:
        gpu_gear.needs_runtime_5_2()
    environment = gpu_gear.real_runtime()
    expectation = expectations.read(gpu_gear.PROGRAMS / name)
    program = gpu_gear.program(name)
    bare = heaptide_run.execute([program], env=environment, timeout=SECONDS)
    run = run_on_runtime(program, out)
    assert (run.status, run.stdout) == (bare.status, bare.stdout), bare.describe() + run.describe()
    report = run.report(*heaptide_run.EVERY_ROW)
    wrong = expectations.problems(expectation, report) + schema_problems(report) + total_problems(report)
    assert not wrong, "\n".join(wrong)


def test_plugin_with_its_runtime(out):
    """Bound to HIP and closed with it, three times over. The runtime's own start is most of the report: its rows are
    left to the other tests."""
    expectation = expectations.read(gpu_gear.PROGRAMS / "hip_plugin.c")
    wrong = expectations.problems(expectation, run_on_runtime(gpu_gear.program("hip_plugin.c"), out).report())
    assert not wrong, "\n".join(wrong)


def memory_functions():
    """The functions of the recorder's table that make, free or hand on memory."""
    hands_on = re.compile(
        r"\b(made_(?!in_graph)\w+|pool_seen|mapping_made|mappings_ended|graphics_\w+|handle_retained)\("
    )
    return {
        name
        for kind, name, rest in gpu_gear.table_entries()
        if kind in ("MAKES", "FREES", "LENDS") or hands_on.search(rest)
    }


def test_every_function_is_called():
    """Every function of the table that allocates or frees and that HIP 5.2.3 exports is called by a program that runs
    on the real runtime, which says what it expects of it."""
    gpu_gear.needs_runtime_5_2()
    exported = set(gpu_gear.runtime_functions())
    assert len(exported) > 300
    wanted = memory_functions() & exported
    assert len(wanted) > 45 and {"hipMalloc", "hipFreeHost", "hipMemPoolImportPointer"} <= wanted
    assert sorted(wanted - gpu_gear.called_functions([*PLANTED, "hip_plugin.c"])) == []


def test_every_function_of_the_table_is_called():
    """Those of later releases, and those that only name or follow something, too; most of them on the stand-in."""
    programs = [path.name for path in gpu_gear.PROGRAMS.glob("*.c")]
    names = {name for _, name, _ in gpu_gear.table_entries()}
    assert len(names) > 75 and sorted(names - gpu_gear.called_functions(programs)) == []


def curve_passes(curve, held, block):
    """Whether the curve starts at 0 and holds the values of `held` in turn, the last one to its end. A sample may lie
    between two calls that follow each other: on its way from one value to the next the curve may show any number of
    whole blocks of theirs, and never turns back."""
    steps = [value for value, before in zip(curve, [None, *curve]) if value != before]
    for begin, end in zip([0, *held], held):
        if not steps or steps.pop(0) != begin:
            return False
        at = begin
        while steps and (at < steps[0] < end or end < steps[0] < at):
            at = steps.pop(0)
            if (at - begin) % block:
                return False
    return steps == held[-1:]


def test_curve_passes():
    """What the next test goes by."""
    assert curve_passes([0, 0, 3, 3, 0, 4], [3, 0, 4], 1)
    assert curve_passes([0, 1, 3, 2, 1, 0, 4], [3, 0, 4], 1)
    for wrong in ([0, 3, 0], [0, 3, 4], [3, 0, 4], [0, 3, 0, 4, 0], [0, 2, 0, 4], [0, 2, 1, 3, 0, 4], []):
        assert not curve_passes(wrong, [3, 0, 4], 1)
    assert not curve_passes([0, 1, 4], [4], 2)


def test_streams_over_time(out):
    """Bytes by stream as planted, also while blocks of one are freed on the other."""
    options = ["--gpu-timeline", "all", "--every", "20"]
    run = run_on_runtime(gpu_gear.program("hip_streams.c"), out, options)
    report = run.report(*heaptide_run.EVERY_ROW)
    assert not schema_problems(report)
    mib = 1 << 20
    ends = {row["name"]: (row["peak_bytes"], row["live_bytes"], row["allocations"]) for row in report["gpu"]["streams"]}
    assert ends == {"stream 1": (3 * mib, 4096, 4), "stream 2": (10 * mib, 5 * mib, 2)}
    curves = {row["name"]: row["bytes"] for row in report["timeline"]["streams"]}
    assert curve_passes(curves["stream 1"], [3 * mib, 0, 4096], mib)
    assert curve_passes(curves["stream 2"], [10 * mib, 5 * mib], 5 * mib)
    device = report["timeline"]["device"]
    assert max(device) == 13 * mib and device[-1] == 5 * mib + 4096
    fragmentation = report["gpu"]["fragmentation"]
    assert fragmentation["live_bytes"] == 5 * mib  # when the driver was asked last: before the last call
    assert 5 * mib <= fragmentation["in_use_bytes"] <= 16 * mib  # 5.7's runtime takes more at a time than 5.2's
    text = heaptide_run.command("report", out, "--fail-on", "none").stdout.decode()
    assert "stream 1" in text and "over time" in text and "in use by the driver" in text


def test_curves_end_where_the_recording_does(out):
    """Without a sample between the last call and the end, all curves have the last figures at the last time."""
    options = ["--gpu-timeline", "streams", "--every", "60000"]
    report = run_on_runtime(gpu_gear.program("hip_streams.c"), out, options).report()
    ends = {row["name"]: row["bytes"][-1] for row in report["timeline"]["streams"]}
    assert ends == {"stream 1": 4096, "stream 2": 5 << 20}
    assert report["timeline"]["device"][-1] == sum(ends.values())


def test_driver_agrees(out):
    """Live bytes are what hipMemGetInfo says has gone, to within the 2 MiB that the runtime takes at a time."""
    run = run_on_runtime(gpu_gear.program("hip_driver_use.c"), out)
    gone = int(run.stdout)
    live = run.report()["summary"]["by_kind"]["device"]["live_bytes"]
    assert live == 16 * (7 << 20) + 100 * 5000
    assert live <= gone <= live + 17 * (2 << 20)


def test_no_device(out):
    """The real library on a machine without a GPU: every call fails with the status that it has without heaptide, and
    nothing is recorded."""
    gpu_gear.real_runtime()
    run = heaptide_run.beside([gpu_gear.program("hip_no_device.c")], out=out, timeout=SECONDS)
    assert run.status == 0, run.describe()
    statuses = dict(line.split() for line in run.stdout.decode().splitlines())
    assert set(statuses.values()) <= {"100", "101"}  # hipErrorNoDevice (from 5.7 on), hipErrorInvalidDevice
    asked = {name for name in memory_functions() if name in gpu_gear.runtime_functions()}
    asked -= {"hipGraphAddMemAllocNode"}  # of later releases, and it needs a graph: test_gpu_simulated.py
    assert set(statuses) == asked | {"hipStreamCreate"}
    report = run.report()
    for kind in ("device", "pinned", "managed"):
        assert report["summary"]["by_kind"][kind]["allocations"] == 0
    empty = {"devices": [], "streams": [], "tensors": [], "fragmentation": None}
    assert report["gpu"] == {**empty, "out_of_memory": {"failed": 0, "events": []}}
    assert report["leaks"] == [] or all(row["suppressed"] for row in report["leaks"])


def test_out_of_memory_opens_the_report(out):
    """Size, line and holders of an allocation that failed, before everything else, and in JSON."""
    run = run_on_runtime(gpu_gear.program("hip_lost.c"), out)
    text = heaptide_run.command("report", out, "--fail-on", "none", "--no-color").stdout.decode()
    head = text.split("LEAKS")[0]
    assert "OUT OF GPU MEMORY  1 allocation failed" in head
    assert "32.0 TiB  asked of device 0" in head and "5.06 MiB" in head and "lose_device" in head
    lines = expectations.tagged_lines((gpu_gear.PROGRAMS / "hip_lost.c").read_text())
    assert f"hip_lost.c:{lines['@device']}" in head
    report = run.report()
    told = report["gpu"]["out_of_memory"]
    (event,) = told["events"]
    assert not schema_problems(report) and told["failed"] == 1
    assert (event["asked_bytes"], event["live_bytes"], event["device"]) == (1 << 45, 5 * (1 << 20) + 65536, 0)
    assert event["site"]["line"] == lines["@too_much"] and event["stack"][0] == event["site"]
    assert 0 < event["seconds"] <= report["seconds"] and event["pool_gap_bytes"] is None
    holders = [(row["site"]["line"], row["bytes"], row["blocks"]) for row in event["holders"]]
    assert holders == [(lines["@device"], 5 << 20, 5), (lines["@refused"], 65536, 1)]
    assert [frame["function"] for frame in event["holders"][0]["stack"][:2]] == ["lose_device", "main"]
