"""Programs of others above HIP: rocRAND on the real runtime, CuPy, hip-python and tinygrad on the stand-in, PyTorch's
allocator through what it tells libc10."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

import expectations
import gpu_gear
import heaptide_run
import program_build

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))
import in_turns

SECONDS = 120
TRAINING = Path(__file__).resolve().parents[1] / "bench" / "programs" / "torch_train.py"


def python_frame(row):
    """The innermost line of Python of a merged stack."""
    return next(frame for frame in row["stack"] if frame.get("lang", "python") == "python")


def function_of(row, file):
    """The innermost function of that file in a stack."""
    return next(frame["function"] for frame in row["stack"] if (frame.get("file") or "").endswith(file))


def gpu_leaks(report):
    """{(kind, function of Python): (bytes, blocks)} of the blocks that no malloc made."""
    found = {}
    for row in report["leaks"]:
        if row["kind"] not in ("heap", "mmap"):
            key = (row["kind"], python_frame(row)["function"].split(".")[0])
            bytes_before, blocks_before = found.get(key, (0, 0))
            found[key] = (bytes_before + row["direct_bytes"], blocks_before + row["blocks"])
    return found


def test_rocrand(out):
    environment = gpu_gear.real_runtime()
    if not Path("/usr/lib/x86_64-linux-gnu/librocrand.so.1").exists():
        pytest.skip("librocrand1 is not installed (.ci/install test does it)")
    program = gpu_gear.program("rocrand_poisson.c")
    run = heaptide_run.traced([program], out=out, env=environment, timeout=SECONDS)
    assert run.status == 0, run.describe()
    rows = [row for row in run.report()["leaks"] if row["kind"] == "device"]
    assert (sum(row["direct_bytes"] for row in rows), sum(row["blocks"] for row in rows)) == (832, 4)
    line = expectations.tagged_lines((gpu_gear.PROGRAMS / "rocrand_poisson.c").read_text())["@poisson"]
    assert all(any(frame["line"] == line for frame in row["stack"]) for row in rows)


def python_on_simhip(name, out, tmp_path, major=7):
    environment = gpu_gear.simulated(major)
    path = environment["LD_LIBRARY_PATH"]
    if name.startswith("cupy"):
        package = Path(importlib.util.find_spec("cupy").origin).parent
        extensions = [*package.rglob("*.so"), *package.parent.glob("cupy_backends/**/*.so")]
        path += ":" + gpu_gear.name_only_libraries(tmp_path / "names", extensions)
    environment = {**environment, "LD_LIBRARY_PATH": path}
    program = [sys.executable, gpu_gear.PROGRAMS / name]
    run = heaptide_run.traced(program, out=out, options=["--py"], env=environment, timeout=SECONDS)
    assert run.status == 0, run.describe()
    return run.report(*heaptide_run.EVERY_ROW)


def test_cupy(out, tmp_path):
    pytest.importorskip("cupy_backends", reason="cupy-rocm-7-0 has wheels for CPython 3.11 only here")
    report = python_on_simhip("cupy_lost.py", out, tmp_path)
    assert gpu_leaks(report) == {("device", "lose_raw"): (4 * (3 << 20), 4), ("pinned", "lose_pinned"): (12345, 1)}
    device = report["summary"]["by_kind"]["device"]
    pool_block = 1024  # CuPy's pool rounds 800 bytes up to two units of 512
    assert device["allocations"] == 8
    assert device["allocated_bytes"] == 4 * (3 << 20) + 777 + pool_block + 4_000_000 + 65536
    lines = expectations.tagged_lines((gpu_gear.PROGRAMS / "cupy_lost.py").read_text())
    assert {python_frame(row)["line"] for row in report["leaks"] if row["kind"] == "device"} == {lines["@raw"]}
    tensors = [(row["bytes"], row["shape"], row["dtype"], row["held_by"]) for row in report["gpu"]["tensors"]]
    assert tensors == [
        (4_000_000, [1000, 1000], "float32", ["ndarray", "__main__.kept[1]"]),
        (65536, [64, 32, 16], "float16", ["ndarray", "Model.weights['layer 1']", "__main__.model"]),
    ]
    assert {row["site"]["function"] for row in report["gpu"]["tensors"]} == {
        "empty"
    }  # CuPy's own line is the innermost


def test_hip_python(out, tmp_path):
    pytest.importorskip("hip", reason="hip-python is not installed")
    report = python_on_simhip("hip_python_lost.py", out, tmp_path)
    assert gpu_leaks(report) == {
        ("device", "lose_device"): (3 << 20, 3),
        ("pinned", "lose_pinned"): (65536, 1),
        ("device", "lose_async"): (5000, 1),
    }
    streams = [(row["name"], row["live_bytes"], row["allocations"]) for row in report["gpu"]["streams"]]
    assert streams == [("stream 1", 5000, 1)]
    assert report["gpu"]["devices"] == [
        {"device": 0, "name": "simhip", "peak_bytes": (3 << 20) + 5000, "live_bytes": (3 << 20) + 5000}
    ]


@pytest.mark.parametrize(
    "options, allocations, live", [([], 7, {"buffer": 6, "lose": 6}), (["--gpu"], 11, {"lose": 6})]
)
def test_tinygrad(options, allocations, live, out, tmp_path):
    """Its cache keeps four buffers of 1 MiB and one of 2 that were dropped, and five in turn share that one. With --gpu
    it caches nothing."""
    pytest.importorskip("tinygrad", reason="tinygrad needs CPython 3.11 or newer")
    environment = gpu_gear.simulated(6)
    (tmp_path / "rocm").mkdir()
    (tmp_path / "rocm" / "lib").symlink_to(environment["LD_LIBRARY_PATH"])
    environment = {**environment, "ROCM_PATH": str(tmp_path / "rocm"), "LRU": None}
    program = [sys.executable, gpu_gear.PROGRAMS / "tinygrad_lost.py"]
    options = [*options, "--py", "--py-depth", "8"]
    run = heaptide_run.traced(program, out=out, options=options, env=environment, timeout=SECONDS)
    assert run.status == 0, run.describe()
    report = run.report(*heaptide_run.EVERY_ROW)
    device = report["summary"]["by_kind"]["device"]
    assert (device["allocations"], device["live_bytes"]) == (allocations, sum(live.values()) << 20)
    leaks = [row for row in report["leaks"] if row["kind"] == "device"]
    assert {function_of(row, "tinygrad_lost.py"): row["direct_bytes"] for row in leaks} == {
        function: mib << 20 for function, mib in live.items()
    }


def test_pytorch_pool_tensor_by_tensor(out):
    """The stand-in for PyTorch's allocator: tensors at their lines, the pool's rest by itself, no byte twice, and
    PyTorch's own profiler hears what it would have."""
    simhip = gpu_gear.simulated(6)["LD_LIBRARY_PATH"]
    source = gpu_gear.PROGRAMS / "c10_pool.c"
    expectation = expectations.read(source)
    program = program_build.build(source, texts={"{simhip}": simhip})
    environment = {"LD_LIBRARY_PATH": f"{simhip}:{program.parent}"}
    run = heaptide_run.beside([program], out=out, env=environment)
    assert run.status == 0, run.describe()
    report = run.report(*heaptide_run.EVERY_ROW)
    wrong = expectations.problems(expectation, report)
    assert not wrong, "\n".join(wrong)
    text = heaptide_run.command("report", out, "--fail-on", "none").stdout.decode()
    split = "10.0 MiB  in tensors, 10.0 MiB reserved by the pool and unused, 3.00 MiB outside the framework"
    assert split in text
    assert "of device in a pool, unused" in text


def test_pytorch_tensors(out):
    """Shape, dtype, line and holders of each tensor on a GPU, the largest first, none larger than its storage; one on
    the CPU is none of them, nor one whose storage was given back."""
    simhip = gpu_gear.simulated(6)["LD_LIBRARY_PATH"]
    folder = program_build.build(gpu_gear.PROGRAMS / "c10_pool.c", texts={"{simhip}": simhip}).parent
    environment = {"LD_LIBRARY_PATH": f"{simhip}:{folder}"}
    source = gpu_gear.PROGRAMS / "torch_tensors.py"
    run = heaptide_run.traced([sys.executable, source], out=out, options=["--py"], env=environment, timeout=SECONDS)
    assert run.status == 0, run.describe()
    lines = expectations.tagged_lines(source.read_text())
    tensors = [
        (row["bytes"], row["device"], row["shape"], row["dtype"], row["site"]["line"], row["held_by"])
        for row in run.report(*heaptide_run.EVERY_ROW)["gpu"]["tensors"]
    ]
    assert tensors == [
        (
            6 << 20,
            0,
            [1024, 1536],
            "float32",
            lines["@weights"],
            ["Parameter", "Model.layers['first']", "__main__.model"],
        ),
        (4 << 20, 0, [2, 1024, 1024], "bfloat16", lines["@activations"], ["Tensor", "__main__.cache[1]"]),
        (3 << 20, 0, [128, 1024, 1024], "float32", lines["@expanded"], ["Tensor", "__main__.wide"]),
        (4, 0, [], "float32", lines["@scalar"], ["Tensor", "__main__.scalar"]),
    ]
    text = heaptide_run.command("report", out, "--fail-on", "none", "--no-color").stdout.decode()
    assert "6.00 MiB  tensor (1024,1536) float32 on device 0\n" in text
    assert "held by: Parameter << Model.layers['first'] << __main__.model\n" in text


POOL_VARIABLES = {
    "PYTORCH_NO_HIP_MEMORY_CACHING": "1",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",
    "MODULAR_DEVICE_CONTEXT_MEMORY_MANAGER_SIZE": "0",
    "MODULAR_DEVICE_CONTEXT_HOST_MEMORY_MANAGER_SIZE": "0",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    "LRU": "0",
}


def test_gpu_turns_pools_off(out):
    """--gpu sets each framework's variable; one that the user has set wins and is named."""
    nothing_set = dict.fromkeys(POOL_VARIABLES)
    run = heaptide_run.traced(["env"], out=out, options=["--gpu"], env=nothing_set)
    seen = dict(line.split("=", 1) for line in run.stdout.decode().splitlines() if "=" in line)
    assert {name: seen.get(name) for name in POOL_VARIABLES} == POOL_VARIABLES
    own = {**nothing_set, "XLA_PYTHON_CLIENT_PREALLOCATE": "true"}
    run = heaptide_run.traced(["env"], out=out.with_name("second"), options=["--gpu"], env=own)
    assert "XLA_PYTHON_CLIENT_PREALLOCATE=true" in run.stdout.decode().splitlines()
    assert any("XLA_PYTHON_CLIENT_PREALLOCATE is set to 'true'" in line for line in run.own_stderr), run.describe()
    assert not any("LRU" in line for line in run.own_stderr)


def test_without_gpu_nothing_is_set(out):
    run = heaptide_run.traced(["env"], out=out, env=dict.fromkeys(POOL_VARIABLES))
    assert not any(name + "=" in run.stdout.decode() for name in POOL_VARIABLES if name != "LRU")


def test_timeline_parts_are_checked(out):
    run = heaptide_run.command("run", "--out", out, "--gpu-timeline", "sites,stream", "--", "true")
    assert run.status == 125 and "--gpu-timeline" in run.stderr and not os.path.exists(out)


needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="torch is pinned for CPython 3.11 only")


@needs_torch
def test_pytorch_on_the_cpu_never_reports():
    """What heaptide hooks is not called at all where PyTorch works on the CPU and its profiler is off: no cost."""
    counter = program_build.build(gpu_gear.PROGRAMS / "c10_counter.c").with_name("libcounter.so")
    command = [sys.executable, TRAINING, "20"]
    run = heaptide_run.execute(command, env={"LD_PRELOAD": str(counter)}, timeout=SECONDS)
    assert run.status == 0 and run.stderr == "calls: 0\n", run.describe()


@needs_torch
def test_pytorch_on_the_cpu(out):
    """The real libc10, whose reports about CPU tensors (its profiler asks for them) make no GPU memory."""
    script = (
        "import torch\n"
        "with torch.profiler.profile(profile_memory=True) as profile:\n"
        "    kept = [torch.ones(1000, 1000) for _ in range(3)]\n"
        "usage = sum(event.self_cpu_memory_usage for event in profile.events())\n"
        "print(usage >= 12_000_000, sum(float(one.sum()) for one in kept))\n"
    )
    run = heaptide_run.traced([sys.executable, "-c", script], out=out, timeout=SECONDS)
    assert run.status == 0 and run.stdout.decode().split() == ["True", "3000000.0"], run.describe()
    kinds = run.report()["summary"]["by_kind"]
    assert [kinds[kind]["allocations"] for kind in ("device", "pinned", "managed")] == [0, 0, 0]


def live_heap(out, profiled):
    """Bytes in use at the end of a program that keeps four tensors of 40,000,000 bytes and has freed four others, with
    PyTorch's profiler on or off, and how many bytes the profiler says are in use."""
    script = (
        "import contextlib, os, sys, torch\n"
        "profile = torch.profiler.profile(profile_memory=True) if sys.argv[1] == 'on' else None\n"
        "with profile or contextlib.nullcontext():\n"
        "    kept = [torch.ones(10, 1000, 1000) for _ in range(8)][::2]\n"
        "used = sum(event.self_cpu_memory_usage for event in profile.events()) if profile else 0\n"
        "print(used, flush=True)\n"
        "os._exit(0)\n"
    )
    command = [sys.executable, "-c", script, "on" if profiled else "off"]
    run = heaptide_run.traced(command, out=out, timeout=SECONDS)
    assert run.status == 0, run.describe()
    return run.report()["summary"]["by_kind"]["heap"]["live_bytes"], int(run.stdout.split()[-1])


@needs_torch
def test_pytorch_on_the_cpu_counts_nothing_twice(out, tmp_path):
    """With its profiler on, c10 reports each tensor beside the malloc that it is; what the profiler itself allocates
    is less than one tensor."""
    tensor = 40_000_000
    plain, told = live_heap(out, profiled=False)
    assert told == 0
    profiled, told = live_heap(tmp_path / "profiled", profiled=True)
    assert told >= 4 * tensor, "the profiler heard of no tensors: nothing could have been counted twice"
    assert plain >= 4 * tensor and abs(profiled - plain) < tensor, (plain, profiled)


@needs_torch
@pytest.mark.heavy
@pytest.mark.parametrize("program", ["encoder", "profiled"])
def test_pytorch_on_the_cpu_is_no_slower_for_the_hook(program):
    """A training step, with PyTorch's profiler off (no call of the hook) and on (one for each tensor): with the hook of
    its allocator and without, in turns. Noise makes the interval wide; it does not lift its lower end."""
    low, middle, high = in_turns.until_clear(
        [f"no-c10:{heaptide_run.COMMAND}", heaptide_run.COMMAND], sys.executable, program, limit=1.02
    )
    assert low < 1.02, f"{middle:.3f} times the time ({low:.3f} to {high:.3f})"
