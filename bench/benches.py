"""The benches: what runs, and what heaptide may cost there. Limits are ratios of CPU time to the bare program's and
MB of peak RSS over it; where they come from and how they were reached: docs/how-it-works.md."""

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import inputs

PROGRAMS = Path(__file__).resolve().parent / "programs"


@dataclass
class Bench:
    name: str
    what: str
    command: list
    limit: float  # CPU time over the bare program's
    memory_limit_mb: float = None  # peak RSS over the bare program's
    file_limit_mb: float = None  # the report file
    is_python: bool = False
    environment: dict = field(default_factory=dict)


def own_benches(built, python):
    """Benches of programs in programs/; `built` holds the compiled ones, `python` has numpy."""
    return [
        Bench("threads", "8 threads x 1M malloc, touch, free", [built / "threads", "0"], 1.6, 6, 1),
        Bench("slots", "the same, replacing one of 16 live blocks", [built / "threads", "16"], 1.3, 6, 1),
        Bench("deep", "2M malloc/free under 33 frames", [built / "deep"], 5),
        Bench("trees16", "binary trees of depth 16", [built / "trees", "16", "40"], 5),
        Bench("trees18", "binary trees of depth 18", [built / "trees", "18", "10"], 6, 40),
        Bench("churn", "maps, strings, vectors", [built / "churn"], 1.5),
        Bench("json", "a JSON tree in C++, 130 MB live", [built / "json_tree"], 1.6, 29),
        Bench("py-objects", "Python, 17M allocations", [python, PROGRAMS / "python_objects.py"], 1.35, is_python=True),
        Bench(
            "py-mix",
            "Python: json, regex, dicts, numpy",
            [python, PROGRAMS / "python_mix.py"],
            1.15,
            is_python=True,
            environment={"OPENBLAS_NUM_THREADS": "1"},
        ),
    ]


def newest_clang():
    """A clang without or with a version in its name, or None."""
    names = ["clang", *(f"clang-{version}" for version in range(30, 13, -1))]
    return next(filter(None, map(shutil.which, names)), None)


def real_benches(folder):
    """Benches of programs that nobody here wrote, as far as they are installed."""
    benches = []
    clang = newest_clang()
    if clang:
        command = [clang, "-O1", "-std=c++17", "-c", inputs.cxx_file(folder), "-o", folder / "headers.o"]
        benches.append(Bench("clang", "clang -O1 on a header-heavy C++ file", command, 1.4, 60))
    if shutil.which("sqlite3"):
        command = ["sqlite3", "-init", inputs.sql_file(folder), ":memory:", ".quit"]
        benches.append(Bench("sqlite3", "sqlite3 filling a table", command, 1.2))
    if shutil.which("jq"):
        benches.append(Bench("jq", "jq on 17 MB", ["jq", ".", inputs.json_file(folder)], 1.1, 20))
    if shutil.which("gcc"):
        cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True).stdout.strip()
        command = [cc1, "-quiet", "-O2", inputs.c_file(folder), "-o", folder / "large.s"]
        benches.append(Bench("cc1", "cc1 -O2 on a large C file", command, 1.15))
    return benches
