"""What somebody sees who looks at a report for the first time: the most telling first, and how to see more."""

import subprocess
import sys

import pytest

import heaptide_run
from heaptide_run import command

TWO_LEAKS = """
#include <stdlib.h>
static void *lost;
__attribute__((noinline)) static void *small(void) { return malloc(sizeof(void *)); }
__attribute__((noinline)) static void *large(void) { return malloc(5000); }
int main(void) {
  void **holder = small();
  *holder = large();
  lost = holder;
  lost = NULL;
  holder = NULL;
  return 0;
}
"""
CYCLES = """
import gc
gc.disable()
for i in range(100):
    ring = [bytearray(10000)]
    ring.append(ring)
ring = None
"""


@pytest.fixture
def program(tmp_path):
    def build(*flags):
        (tmp_path / "two.c").write_text(TWO_LEAKS)
        subprocess.run(["gcc", "-O0", *flags, "two.c", "-o", "two"], cwd=tmp_path, check=True)
        return tmp_path / "two"

    return build


def test_direct_leaks_come_first(program, out):
    heaptide_run.traced([program("-g")], out=out)
    text = command("report", out).stdout.decode()
    leaks = text[text.index("LEAKS") : text.index("GROWTH")]
    assert leaks.index("8 B  in 1 block of heap, direct") < leaks.index("4.88 KiB  in 1 block of heap, indirect")


@pytest.mark.parametrize(("flags", "told"), [(["-g"], False), ([], True), (["-s"], True)])
def test_a_program_without_debug_info(flags, told, program, out):
    run = heaptide_run.traced([program(*flags)], out=out)
    advice = [note for note in run.report()["notes"] if "build it with -g" in note]
    assert len(advice) == told and all(note.startswith("two has no debug info") for note in advice)


@pytest.mark.parametrize("options", [[], ["--py"]])
def test_python_recorded_without_py(options, out):
    run = heaptide_run.traced([sys.executable, "-c", "pass"], out=out, options=options)
    advice = [note for note in run.report()["notes"] if "--py" in note or "-g" in note]
    assert len(advice) == (not options), advice


@pytest.mark.parametrize(("script", "told"), [(CYCLES, True), ("pass", False)])
def test_lost_python_objects_are_told_in_the_closing_line(script, told, out):
    run = heaptide_run.traced([sys.executable, "-c", script], out=out, options=["--py"])
    assert ("of Python objects" in run.stderr) == told, run.stderr
    if told:
        assert "leaked 0 B and 9" in run.stderr
        summary = command("report", out).stdout.decode().split("SUMMARY")[1]
        assert any(line.startswith("  leaked, Python") for line in summary.splitlines())
