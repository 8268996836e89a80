"""The benches: what runs, and what heaptide may cost there. Limits are ratios of CPU time to the bare program's and
MB of peak RSS over it. They are the design's: a row of its table of prototypes each, the last column of which is the
limit for the product, but for those that have a comment here."""

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
    limit: float  # CPU time over the bare program's; None: the ratio is only shown
    memory_limit_mb: float = None  # peak RSS over the bare program's
    file_limit_mb: float = None  # the report file
    memory_limit_share: float = None  # in place of memory_limit_mb: of the bare program's peak RSS
    is_python: bool = False
    py_depth: int = 1  # lines of Python kept for each site
    environment: dict = field(default_factory=dict)


def own_benches(built, python):
    """Benches of programs in programs/; `built` holds the compiled ones, `python` has numpy."""
    deep = [python, PROGRAMS / "python_deep.py"]
    return [
        # Memory and file: "at most 6 MB over bare, report file under 1 MB" stands below the design's table.
        Bench("threads", "8 threads x 1M malloc, touch, free", [built / "threads", "0"], 1.6, 6, 1),
        Bench("slots", "the same, replacing one of 16 live blocks", [built / "threads", "16"], 1.3, 6, 1),
        Bench("deep", "2M malloc/free under 33 frames", [built / "deep"], 5),
        Bench("trees16", "binary trees of depth 16", [built / "trees", "16", "40"], 5),
        Bench("trees18", "binary trees of depth 18", [built / "trees", "18", "10"], 6, 40),
        Bench("churn", "maps, strings, vectors", [built / "churn"], 1.5),
        # Memory: the design tells of a prototype that took 132 MB to 161 here, to be stayed under.
        Bench("json", "a JSON tree in C++, 130 MB live", [built / "json_tree"], 1.6, memory_limit_share=29 / 132),
        Bench("py-objects", "Python, 17M allocations", [python, PROGRAMS / "python_objects.py"], 1.35, is_python=True),
        Bench(
            "py-mix",
            "Python: json, regex, dicts, numpy",
            [python, PROGRAMS / "python_mix.py"],
            1.15,
            is_python=True,
            environment={"OPENBLAS_NUM_THREADS": "1"},
        ),
        *(
            Bench(f"py-depth{n}", f"Python, 200 frames deep, {n} kept", deep, None, is_python=True, py_depth=n)
            for n in (16, 64)
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
        # Memory: as for "json" above, 80 MB to 100 there; jq itself takes more here.
        command = ["jq", ".", inputs.json_file(folder)]
        benches.append(Bench("jq", "jq on 17 MB", command, 1.1, memory_limit_share=20 / 80))
    if shutil.which("gcc"):
        cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True).stdout.strip()
        command = [cc1, "-quiet", "-O2", inputs.c_file(folder), "-o", folder / "large.s"]
        benches.append(Bench("cc1", "cc1 -O2 on a large C file", command, 1.15))
    return benches
