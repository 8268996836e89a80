"""The checking mode: each stack that is recorded is compared with the one that libunwind gives, and none may differ."""

import os
import re
import subprocess
from pathlib import Path

import pytest

import heaptide_run
from real_inputs import large_c_file

LIBRARY = heaptide_run.COMMAND.resolve().parent / "libheaptide.so"
COUNTS = re.compile(
    r"stack check: (\d+) stacks, (\d+) equal, (\d+) longer, (\d+) shorter, (\d+) different; (\d+) by a known path"
)

pytestmark = pytest.mark.skipif(
    not LIBRARY.is_file(), reason="the recorder is preloaded by hand here; it must lie beside the command"
)


def checked(argv, folder, py=False, longer_wanted=0):
    """Runs a program in the checking mode; returns how many stacks there were, and how many of them by a known path."""
    folder.mkdir()
    session = {"out": folder, "library": LIBRARY, "check_stacks": 1, "py": int(py), "depth": 64}
    options = ";".join(f"{name}={value}" for name, value in session.items())
    environment = {"LD_PRELOAD": str(LIBRARY), "HEAPTIDE_SESSION": options}
    run = heaptide_run.execute(argv, env=environment, timeout=100)
    assert run.status == 0, run.describe()
    (report,) = heaptide_run.read_reports(folder)
    notes = [note for note in report["notes"] if "check" in note]
    counts = COUNTS.fullmatch(notes[0]) if len(notes) == 1 else None
    assert counts, notes
    stacks, equal, longer, shorter, different, by_path = map(int, counts.groups())
    assert (longer, shorter, different) == (longer_wanted, 0, 0) and equal + longer == stacks, notes
    return stacks, by_path


# How many stacks a program makes at least; they all make the same number each time, but for the machine's libraries.
HAZARDS = [
    ("cases/stack_hazards.c", 30000),
    ("cases/jit.c", 1000),
    ("cases/throwing.cc", 3000),
    ("planted/longjmp_counts.c", 200),
    ("planted/cxx_exceptions.cc", 1500),
    ("planted/cxx_containers.cc", 100),
    ("planted/handler_alloc.c", 1),
    ("planted/fiber_lost.c", 2),
    ("planted/no_frame_pointers.c", 1),
    ("planted/thread_handoff.c", 1000),
]


# libunwind ends at code without unwind information; heaptide goes on where the code's epilogue says how.
LONGER = {"cases/jit.c": 1000}


@pytest.mark.parametrize(("name", "least"), HAZARDS, ids=[name for name, _ in HAZARDS])
def test_planted_hazards(name, least, planted, tmp_path):
    program = planted(Path(__file__).parent / name, flags=("-pthread",))
    stacks, by_path = checked([program], tmp_path / "out", longer_wanted=LONGER.get(name, 0))
    assert stacks >= least
    assert by_path > 500 or name != "cases/stack_hazards.c"


def test_compiler(tmp_path):
    large_c_file(tmp_path / "modest.c", functions=15)
    subprocess.run(["gcc", "-E", "modest.c", "-o", "modest.i"], cwd=tmp_path, check=True)
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    argv = [cc1, "-quiet", "-O2", "-fpreprocessed", tmp_path / "modest.i", "-o", tmp_path / "modest.s"]
    stacks, by_path = checked(argv, tmp_path / "out")
    assert stacks > 50000 and by_path > 1000


@pytest.mark.parametrize("py", [False, True], ids=["native", "py"])
def test_python(py, tmp_path):
    """Strings above the small objects' size, so that each is a call of malloc; under --py they are Python's objects and
    have no native stack, but what SQLite allocates has."""
    code = """
import json, sqlite3
json.loads(json.dumps([{str(i) * 300: "x" * (i % 900)} for i in range(2000)]))
database = sqlite3.connect(":memory:")
database.execute("create table numbers (number, text)")
database.executemany("insert into numbers values (?, ?)", [(i, "text" * (i % 300)) for i in range(3000)])
database.execute("select count(*), text from numbers group by text order by text").fetchall()
"""
    python = os.path.realpath("/usr/bin/python3")
    stacks, by_path = checked([python, "-c", code], tmp_path / "out", py)
    # Under --py only SQLite's calls are left, and how many it makes depends on how it was built.
    assert stacks > (500 if py else 5000) and by_path > (0 if py else 1000)


CXX = r"""
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <vector>
int main() {
  std::map<std::string, std::vector<std::string>> lists;
  for (int i = 0; i < 3000; i++) {
    std::ostringstream text;
    text << "a key that is too long for a small string " << i % 97;
    std::string key = text.str();
    std::function<void()> add = [&lists, key, i] { lists[key].push_back(key + std::to_string(i)); };
    try {
      if (i % 7 == 0) throw std::runtime_error(key);
      add();
    } catch (std::exception &error) {
      lists[std::string(error.what()) + "!"].clear();
    }
  }
  std::cout << lists.size() << "\n";
}
"""


def test_cxx(tmp_path):
    (tmp_path / "program.cc").write_text(CXX)
    subprocess.run(["g++", "-O2", tmp_path / "program.cc", "-o", tmp_path / "program"], check=True)
    stacks, by_path = checked([tmp_path / "program"], tmp_path / "out")
    assert stacks > 10000 and by_path > 1000
