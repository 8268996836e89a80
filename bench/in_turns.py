"""Tells differences of 1 % between two ways to run a training program of PyTorch's, on a machine that is busy.

python bench/in_turns.py SIDE SIDE [--python PYTHON] [--programs NAME,NAME] [--pairs N] [--rounds N]

SIDE: `bare`, or a heaptide command (build/heaptide) that the program runs under, or `no-c10:build/heaptide`: a copy
of it without the hook of PyTorch's allocator. `SIDE+0.03` makes it slower by 3 %, to see whether that is told.
Whole runs differ by 10 to 40 % on a busy machine, because their noise lasts for seconds. Here both processes run on
the same processor and make steps of some 30 ms in turns: what else is going on hits two neighbouring steps alike. Each
pair's ratio is that of CPU times (the process's own, user and system), the second side's by the first's; printed is the
median over all pairs, with the interval that holds it in 99 of 100 cases. `of sums` has what only some steps pay for,
such as heaptide's samples, and the noise too. Two processes of the same program differ a little for as long as they
live (where their memory lies): so there is a new pair of them for each round, and the least and the greatest median of
a round is printed at the end of a row.
"""

import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "bench" / "programs" / "torch_steps.py"
# The hook, as gpu/c10_library.h has it, and a name of the same length that nobody calls.
C10_REPORT = b"_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE\0"
C10_UNUSED = C10_REPORT.replace(b"report", b"unused")
WARM_UP = 10  # pairs: caches of PyTorch's, and of the allocator
# With its defaults glibc gives freed memory back to the kernel and asks for it again at every step, more or less of it
# by where blocks happen to lie: two bare processes then differ by up to 20 %. So it keeps what it has, on both sides.
KEEP_MEMORY = {"GLIBC_TUNABLES": "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=4294967296"}
Z_99 = 2.576  # a normal variable is as far from its mean as that in 1 of 100 cases


def without_c10(heaptide, folder):
    """A heaptide command in `folder` whose library does not export the hook: the loader binds libc10 to itself."""
    heaptide = Path(heaptide).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    library = (heaptide.parent / "libheaptide.so").read_bytes()
    names_at = library.index(C10_REPORT)  # of the dynamic symbols' names, which come before all data
    library = library[:names_at] + C10_UNUSED + library[names_at + len(C10_UNUSED) :]
    (folder / "libheaptide.so").write_bytes(library)
    return shutil.copy(heaptide, folder / "heaptide")


class Side:
    """A process of the program, which makes a step when it is told to."""

    def __init__(self, how, python, program, out):
        name, _, slower = str(how).partition("+")
        command = [python, PROGRAM, program, *([slower] if slower else [])]
        if name.startswith("no-c10:"):
            name = without_c10(name.partition(":")[2], Path(f"{out}-command"))
        if name != "bare":
            command = [name, "run", "-q", "--out", out, "--", *command]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        self.process = subprocess.Popen(command, env={**os.environ, **KEEP_MEMORY}, **pipes)

    def step(self):
        """Nanoseconds of CPU time."""
        self.process.stdin.write("\n")
        return int(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


def processor():
    """One that this process may use: the last, since the first serves most interrupts."""
    return max(os.sched_getaffinity(0))


def step_pairs(hows, python, program, pairs, swapped=False):
    """[(ns of the first side, ns of the second)] of one pair of processes. Strictly in turns, so that each step finds
    the caches as the other process has left them. Swapped: the second side starts first, and goes first."""
    allowed = os.sched_getaffinity(0)
    order = (1, 0) if swapped else (0, 1)
    folder = Path(tempfile.mkdtemp(prefix="in-turns-"))
    try:
        os.sched_setaffinity(0, {processor()})  # the children inherit it
        sides = {which: Side(hows[which], python, program, folder / str(which)) for which in order}
    finally:
        os.sched_setaffinity(0, allowed)
    try:
        both = []
        for _ in range(WARM_UP + pairs):
            taken = {which: sides[which].step() for which in order}
            both.append((taken[0], taken[1]))
    finally:
        statuses = [side.end() for side in sides.values()]
        shutil.rmtree(folder, ignore_errors=True)
    if any(statuses):
        raise RuntimeError(f"{program}: exit statuses {statuses}")
    return both[WARM_UP:]


def median_interval(values):
    """(low, median, high): the median of what the values are drawn from lies between low and high in 99 of 100 cases,
    however they are distributed: the number of values below it is binomial."""
    ordered, count = sorted(values), len(values)
    below = max(0, math.floor(count / 2 - Z_99 * math.sqrt(count) / 2) - 1)
    return ordered[below], statistics.median(ordered), ordered[count - 1 - below]


def ratios(both):
    return [second / first for first, second in both]


def compare(hows, python, program, pairs, rounds):
    """The pairs of each round."""
    return [step_pairs(hows, python, program, pairs, number % 2 == 1) for number in range(rounds)]


def until_clear(hows, python, program, limit, pairs=100, rounds=3):
    """The interval of the ratio, of as many rounds as it takes to lie below the limit, or of all."""
    found = []
    for number in range(rounds):
        found += ratios(step_pairs(hows, python, program, pairs, number % 2 == 1))
        interval = median_interval(found)
        if interval[2] < limit:
            break
    return interval


def row(program, measured):
    both = [pair for one_round in measured for pair in one_round]
    first, second = (statistics.median(pair[which] for pair in both) / 1e6 for which in (0, 1))
    low, middle, high = median_interval(ratios(both))
    by_round = [statistics.median(ratios(one_round)) for one_round in measured]
    sums = sum(pair[1] for pair in both) / sum(pair[0] for pair in both)
    return (
        f"{program:<9} {first:>7.2f} {second:>7.2f}   {middle:.4f} ({low:.4f} to {high:.4f})   {sums:.4f}"
        f"   {min(by_round):.4f} to {max(by_round):.4f}"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sides", nargs=2, metavar="SIDE")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--programs", default="dense,conv,encoder,small")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{'program':<9} {'1st ms':>7} {'2nd ms':>7}   ratio (99 % interval)         of sums   of rounds")
    for program in arguments.programs.split(","):
        measured = compare(arguments.sides, arguments.python, program, arguments.pairs, arguments.rounds)
        print(row(program, measured), flush=True)


if __name__ == "__main__":
    main()
