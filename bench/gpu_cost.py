"""What the hooks of GPU runtimes cost a program that uses none: the recorder against one that is built without them.

python bench/gpu_cost.py build/without/heaptide [--rounds N] [--python PYTHON] [--only NAME,NAME]

Both run in turns, each first in every second pair. The ratio is that of the smallest CPU times (user and system,
children and the writing of the report included); beside it the median of the pairs' own ratios and the quarter of them
on each side, by which to tell a difference from the machine's noise. Names: those of the benches, `true` (start and end
of 20 programs that do nothing) and `torch` (PyTorch training on the CPU, where PYTHON has it: the seconds of its loop,
as it prints them, without those of the import).
"""

import argparse
import shlex
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import bench
import benches

PROGRAM_RUNS = 20  # of `true`
TORCH_STEPS = 1000
DEFAULT = ["true", "threads", "slots", "churn", "py-mix"]


def command_of(heaptide, name, commands):
    """A command that runs the bench under `heaptide`."""
    out = bench.WORK / "out"
    if name == "true":
        once = f"{shlex.quote(str(heaptide))} run -q --overwrite --out {shlex.quote(str(out))} -- true"
        return ["sh", "-c", f"set -e; for i in $(seq {PROGRAM_RUNS}); do {once}; done"]
    one = commands[name]
    options = ["--py", "--py-depth", str(one.py_depth)] if one.is_python else []
    return ["env", *(f"{key}={value}" for key, value in one.environment.items())] + [
        str(part) for part in [heaptide, "run", "-q", *options, "--out", out, "--", *one.command]
    ]


def cpu_seconds(command, name):
    shutil.rmtree(bench.WORK / "out", ignore_errors=True)
    result = bench.WORK / "result"
    measured = subprocess.run([bench.WORK / "measure", result, *command], capture_output=True, timeout=bench.TIMEOUT_S)
    status, cpu_us, _rss_bytes = map(int, result.read_text().split())
    if status:
        sys.exit(f"{shlex.join(command)}: status {status}\n{measured.stderr.decode()}")
    return float(measured.stdout.split()[0]) if name == "torch" else cpu_us / 1e6


def pairs_of(recorders, name, commands, rounds):
    """CPU seconds of both, by round."""
    pairs = []
    for number in range(rounds):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        seconds = {which: cpu_seconds(command_of(recorders[which], name, commands), name) for which in order}
        pairs.append((seconds[0], seconds[1]))
    return pairs


def row(name, pairs):
    with_hooks, without = (min(pair[which] for pair in pairs) for which in (0, 1))
    low, middle, high = statistics.quantiles([pair[0] / pair[1] for pair in pairs], n=4)
    ratio = with_hooks / without
    return f"{name:<11} {with_hooks:>7.3f} {without:>7.3f} {ratio:>6.3f}   {middle:.3f} ({low:.3f} to {high:.3f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("without", type=Path)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--python", type=Path)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    python = bench.build(with_peers=False)
    commands = {one.name: one for one in benches.own_benches(bench.WORK, python)}
    if arguments.python:
        training = [arguments.python, benches.PROGRAMS / "torch_train.py", str(TORCH_STEPS)]
        commands["torch"] = benches.Bench("torch", "PyTorch trains on the CPU", training, None)
    names = arguments.only.split(",") if arguments.only else DEFAULT + (["torch"] if arguments.python else [])
    print(f"{'bench':<11} {'with s':>7} {'without':>7} {'ratio':>6}   of the pairs")
    for name in names:
        pairs = pairs_of((bench.HEAPTIDE, arguments.without.resolve()), name, commands, arguments.rounds)
        print(row(name, pairs), flush=True)


if __name__ == "__main__":
    main()
