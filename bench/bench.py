"""Runs each bench bare, under heaptide and under its peers, in turns, and prints ratios beside the limits.

python bench/bench.py [--quick] [--only NAME] [--no-peers] [--tries N]

CPU time (user and system, children and the writing of the report included) is the smallest of five runs, peak RSS
too; --quick takes two. Exit status 1: something is over 1.5 times its limit, in each of N tries (a machine may be
busy for a while), or a program's output changed.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import benches
import moments

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "bench"
HEAPTIDE = ROOT / "build" / "heaptide"
FAIL_AT = 1.5  # times a limit
PEER_SHARE = 0.2  # of what memray costs beyond the bare program, both recording the stacks of native code too
TIMEOUT_S = 600
MB = 1e6


class Run:
    """What one run of a program used."""

    def __init__(self, status, cpu_seconds, rss_bytes, output_hash, file_bytes):
        self.status = status
        self.cpu_seconds = cpu_seconds
        self.rss_bytes = rss_bytes
        self.output_hash = output_hash
        self.file_bytes = file_bytes


def build(with_peers):
    """Compiles the programs that are newer than what is there, and makes a Python that has numpy, and memray if
    peers are wanted."""
    WORK.mkdir(parents=True, exist_ok=True)
    for source in benches.PROGRAMS.glob("*.c*"):
        target = WORK / source.stem
        if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
            continue
        compiler = "g++" if source.suffix == ".cc" else "gcc"
        subprocess.run([compiler, "-O2", "-g", "-pthread", source, "-o", target], check=True)
    python = WORK / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", WORK / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "numpy"], check=True)
    if with_peers and not (python.parent / "memray").exists():  # it does not exist for every Python
        subprocess.run([python, "-m", "pip", "install", "-q", "memray"], stderr=subprocess.DEVNULL)
    return python


def heaptide_command(bench, out):
    options = ["--py", "--py-depth", str(bench.py_depth)] if bench.is_python else []
    return [HEAPTIDE, "run", "-q", *options, "--out", out, "--", *bench.command]


def heaptrack_command(bench, out):
    return ["heaptrack", "-r", "-o", out / "heaptrack", *bench.command]


def memray_command(bench, out):
    python, *script = bench.command
    traced = ["--native", "--trace-python-allocators"]
    return [python, "-m", "memray", "run", *traced, "-q", "-o", out / "memray", *script]


def tools_for(bench, python, with_peers):
    """Name and command maker of everything that runs this bench. The peers as far as they are installed."""
    tools = {"bare": lambda bench, _out: bench.command, "heaptide": heaptide_command}
    if with_peers and bench.is_python and (python.parent / "memray").exists():
        tools["memray"] = memray_command
    elif with_peers and not bench.is_python and shutil.which("heaptrack"):
        tools["heaptrack"] = heaptrack_command
    return tools


def run_once(bench, tool, make_command):
    out = WORK / "out"
    shutil.rmtree(out, ignore_errors=True)
    if tool in ("heaptrack", "memray"):
        out.mkdir()
    result, output = WORK / "result", WORK / "output"
    with open(output, "wb") as stdout:
        command = [WORK / "measure", result, *make_command(bench, out)]
        environment = {**os.environ, **bench.environment}
        with open(WORK / "errors", "wb") as stderr:
            subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, timeout=TIMEOUT_S
            )
    status, cpu_us, rss_bytes = map(int, result.read_text().split())
    file_bytes = sum(file.stat().st_size for file in out.rglob("*")) if out.exists() else 0
    return Run(status, cpu_us / 1e6, rss_bytes, hashlib.sha256(output.read_bytes()).digest(), file_bytes)


def run_in_turns(bench, tools, rounds):
    """All runs of each tool. In turns, so that a busy moment of the machine hits all of them."""
    runs = {tool: [] for tool in tools}
    for _ in range(rounds):
        for tool, make_command in tools.items():
            runs[tool].append(run_once(bench, tool, make_command))
    return runs


def complaint_about_output(runs):
    """A sentence when heaptide changed what a program wrote or returned, else None."""
    bare = runs["bare"][0]
    for run in runs["bare"] + runs["heaptide"]:
        if run.status != bare.status:
            return f"exit status {run.status} instead of {bare.status}"
        if run.output_hash != bare.output_hash:
            return "another output"
    return None


def best(runs):
    return min(run.cpu_seconds for run in runs), min(run.rss_bytes for run in runs)


def verdict_on(value, limit):
    """What to print beside a value, and whether it fails."""
    if limit is None:
        return "", False
    if value <= limit:
        return f"<= {limit:g}", False
    return f"OVER {limit:g}", value > FAIL_AT * limit


def print_header():
    print(
        f"{'bench':<11} {'bare s':>7} {'heaptide':>8} {'limit':<9} {'MB over':>8} {'limit':<9} "
        f"{'file MB':>8} {'limit':<7} {'peer':<9} {'ratio':>6} {'MB over':>8} {'share':>6} limit"
    )


def share_of_memray(runs):
    """What heaptide costs beyond the bare program as a part of what memray does."""
    bare, ours, memrays = (best(runs[tool])[0] for tool in ("bare", "heaptide", "memray"))
    return (ours - bare) / (memrays - bare)


def print_row(bench, runs):
    """One line of the table. True when a limit is passed by so much that it fails."""
    bare_seconds, bare_bytes = best(runs["bare"])
    seconds, rss_bytes = best(runs["heaptide"])
    ratio, over_mb = seconds / bare_seconds, (rss_bytes - bare_bytes) / MB
    file_mb = max(run.file_bytes for run in runs["heaptide"]) / MB
    beside_ratio, ratio_fails = verdict_on(ratio, bench.limit)
    share = bench.memory_limit_share
    memory_limit_mb = round(share * bare_bytes / MB) if share else bench.memory_limit_mb
    beside_memory, memory_fails = verdict_on(over_mb, memory_limit_mb)
    beside_file, file_fails = verdict_on(file_mb, bench.file_limit_mb)
    line = (
        f"{bench.name:<11} {bare_seconds:7.3f} {ratio:8.2f} {beside_ratio:<9} {over_mb:8.1f} {beside_memory:<9} "
        f"{file_mb:8.2f} {beside_file:<7}"
    )
    for peer in runs.keys() - {"bare", "heaptide"}:
        peer_seconds, peer_bytes = best(runs[peer])
        line += f" {peer:<9} {peer_seconds / bare_seconds:6.2f} {(peer_bytes - bare_bytes) / MB:8.1f}"
    share_fails = False
    if "memray" in runs:
        beside_share, share_fails = verdict_on(share_of_memray(runs), PEER_SHARE)
        line += f" {share_of_memray(runs):6.3f} {beside_share}"
    print(line, flush=True)
    return ratio_fails or memory_fails or file_fails or share_fails


def print_moments(rounds):
    """The second table, of absolute figures. True when one is so far over its limit that it fails."""
    failed = False
    for name, what, figure, unit, limit in moments.moments(HEAPTIDE, WORK, rounds):
        beside, fails = verdict_on(figure, limit)
        print(f"{name:<11} {figure:10.3f} {unit:<2} {beside:<9} {what}", flush=True)
        failed = failed or fails
    return failed


def bench_fails(bench, tools, rounds):
    """Measures a bench and prints its line. True when it is over a limit by so much that it fails, or was changed."""
    runs = run_in_turns(bench, tools, rounds)
    complaint = complaint_about_output(runs)
    if complaint:
        print(f"{bench.name:<11} FAILED: under heaptide {complaint}; see {WORK / 'errors'}", flush=True)
    return bool(complaint) or print_row(bench, runs)


def fails_each_time(measure, tries):
    return all(measure() for _ in range(tries))


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two runs instead of five")
    parser.add_argument("--only", metavar="NAME", help="one bench")
    parser.add_argument("--no-peers", action="store_true", help="bare and heaptide only")
    parser.add_argument("--tries", metavar="N", type=int, default=1, help="measure what fails up to N times")
    return parser.parse_args()


def main():
    chosen = options()
    python = build(not chosen.no_peers)
    all_benches = benches.own_benches(WORK, python) + benches.real_benches(WORK)
    rounds = 2 if chosen.quick else 5
    wanted = [bench for bench in all_benches if chosen.only in (None, bench.name)]
    names = [bench.name for bench in all_benches] + ["moments"]
    if chosen.only not in (None, *names):
        sys.exit(f"bench: no bench {chosen.only}; there are: {', '.join(names)}")
    failed = []
    if wanted:
        print_header()
    for bench in wanted:
        tools = tools_for(bench, python, not chosen.no_peers)
        if fails_each_time(partial(bench_fails, bench, tools, rounds), chosen.tries):
            failed.append(bench.name)
    if chosen.only in (None, "moments") and fails_each_time(partial(print_moments, rounds), chosen.tries):
        failed.append("moments")
    if failed:
        print(f"over {FAIL_AT} times a limit, or changed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
