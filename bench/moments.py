"""What takes a time of its own, whatever the program: starting the command, the exit of a traced program (leak scan
and file), and a report of many sites."""

import shutil
import subprocess
import time

START_LIMIT_S = 0.020
EXIT_LIMIT_S = 2.0  # 10 million blocks
REPORT_LIMIT_S = 5.0  # 100,000 sites and 300,000 nodes of call stacks
REPORT_LIMIT_MB = 1000


def seconds_to_start(heaptide):
    begin = time.monotonic()
    subprocess.run([heaptide, "--version"], stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin


def seconds_to_exit(heaptide, work):
    """From the end of main to the end of `heaptide run`: scan, file, and giving the memory back."""
    command = [heaptide, "run", "-q", "--out", fresh(work / "exit"), "--", work / "blocks"]
    end_of_main = float(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return time.monotonic() - end_of_main


def seconds_and_mb_to_report(heaptide, work):
    """CPU seconds and peak RSS of a text report."""
    folder, result = fresh(work / "many-sites"), work / "result"
    subprocess.run([heaptide, "run", "-q", "--out", folder, "--", work / "trees", "16", "1"], stdout=subprocess.DEVNULL)
    subprocess.run([work / "measure", result, heaptide, "report", folder], stdout=subprocess.DEVNULL)
    _status, cpu_us, rss_bytes = map(int, result.read_text().split())
    return cpu_us / 1e6, rss_bytes / 1e6


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def moments(heaptide, work, rounds):
    """Rows of (name, what, figure, unit, limit), each the best of some rounds."""
    reports = [seconds_and_mb_to_report(heaptide, work) for _ in range(rounds)]
    start = min(seconds_to_start(heaptide) for _ in range(rounds))
    end = min(seconds_to_exit(heaptide, work) for _ in range(rounds))
    return [
        ("start", "heaptide --version", start, "s", START_LIMIT_S),
        ("exit", "scan and file of 10M live blocks", end, "s", EXIT_LIMIT_S),
        ("report", "130,000 sites", min(seconds for seconds, _ in reports), "s", REPORT_LIMIT_S),
        ("report", "130,000 sites", min(mb for _, mb in reports), "MB", REPORT_LIMIT_MB),
    ]
