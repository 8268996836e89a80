"""What the tutorials and the skill say is so: their commands are run, and find what the text says they find."""

import json
import re
import shutil
import subprocess
import sys

import pytest

import gpu_gear
import heaptide_run
import program_build
from heaptide_run import command
from program_build import REPOSITORY

EXAMPLES = REPOSITORY / "examples"
SKILL = (REPOSITORY / "skills" / "heaptide" / "SKILL.md").read_text()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """The growing service's reports, and the mended one's."""
    folder = tmp_path_factory.mktemp("service")
    for name, options in (("before", []), ("after", ["--fixed"])):
        program = [sys.executable, EXAMPLES / "service.py", *options]
        run = heaptide_run.traced(program, out=folder / name, options=["-q", "--py"])
        assert run.status == 0, run.describe()
    return folder


def line_of(text):
    lines = (EXAMPLES / "service.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_the_service_grows_where_the_tutorial_says(service):
    (report,) = heaptide_run.read_reports(service / "before")
    assert report["leaks"] == [] and report["growth"]["cpu"]["verdict"] == "fail"
    site = report["growth"]["sites"][0]["site"]
    assert (site["function"].split(".")[-2:], site["line"]) == (["Session", "__init__"], line_of("# GROWS"))
    assert command("report", service / "before", "--fail-on", "growth").status == 1


def test_the_mended_service_does_not(service):
    assert command("report", service / "after", "--fail-on", "growth").status == 0
    done = command("diff", service / "before", service / "after", "--json", "--fail-on", "grown")
    (pair,) = map(json.loads, done.stdout.splitlines())
    assert done.status == 0 and pair["counts"]["new"] == pair["counts"]["grown"] == 0
    assert "Session.__init__" in [change["site"]["function"] for change in pair["changes"]]


def test_the_tutorial_shows_the_lines_there_are():
    text = (REPOSITORY / "docs" / "tutorial-service.md").read_text()
    source = (EXAMPLES / "service.py").read_text().splitlines()
    shown = {int(number) for number in re.findall(r"service\.py:(\d+)", text)}
    assert line_of("# GROWS") in shown
    assert all(re.search(r"user|history|bytearray|sessions", source[number - 1]) for number in shown)


# --- the skill


def skill_commands(word):
    """The skill's indented lines that begin with a word, each with the lines that continue it."""
    found = re.findall(rf"^    ({word} (?:.*\n      +)*.*)$", SKILL, re.MULTILINE)
    return [re.sub(r"\s+", " ", text) for text in found]


# For what the skill says of marks.
MARKED = """
#include "heaptide.h"
__attribute__((constructor)) static void rounds(void) {
  heaptide_mark("round");
  heaptide_mark("round");
}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder in which the skill's commands find `before` and `after`: the demo, and a mended one."""
    folder = tmp_path_factory.mktemp("skill")
    source = (EXAMPLES / "demo.c").read_text()
    for name in ("before", "after"):
        place = folder / f"source-{name}"
        place.mkdir()
        mended = source.replace("number % LOST_EACH == LOST_EACH - 1", "number < 0") if name == "after" else source
        (place / "demo.c").write_text(mended + MARKED)
        program = program_build.build(place / "demo.c", flags=(f"-I{program_build.REPOSITORY}/include",))
        assert heaptide_run.traced([program], out=folder / name, options=["-q"]).status == 0
    report = command("report", folder / "before", "--json", "--fail-on", "none").stdout
    (folder / "before.jsonl").write_bytes(report)
    return folder


def test_the_skill_has_a_head_that_agents_read():
    assert re.match(r"---\nname: heaptide\ndescription: .{50,}\n---\n", SKILL)


def test_each_jq_command_of_the_skill_finds_something(recorded):
    filters = skill_commands("jq")
    assert len(filters) == 5
    outputs = []
    for text in filters:
        done = subprocess.run(text, shell=True, cwd=recorded, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.strip(), f"{text}\n{done}"
        outputs.append(done.stdout)
    first = json.loads(outputs[0].splitlines()[0])
    assert (first["bytes"], first["blocks"]) == (12_800, 100) and "node_make" in first["site"]
    assert outputs[1].splitlines()[0].startswith("node_make ")


def test_the_skills_loop_ends_in_a_proof(recorded):
    before, after = recorded / "before", recorded / "after"
    assert command("report", before, "--fail-on", "leaks").status == 1
    assert command("report", after, "--fail-on", "leaks").status == 0
    (proof,) = [text for text in skill_commands("heaptide") if "diff before after" in text]
    proof = proof.replace("heaptide", str(heaptide_run.COMMAND), 1)
    done = subprocess.run(proof, shell=True, cwd=recorded, capture_output=True, text=True)
    counts, changes = re.match(r"(\{.*?\}) (\[.*\])$", re.sub(r"\s+", " ", done.stdout).strip()).groups()
    assert json.loads(counts)["gone"] == 2 and json.loads(counts)["new"] == 0
    assert {change["site"] for change in json.loads(changes)} == {"node_make", "child_make"}


def test_the_skill_names_only_options_there_are():
    known = {
        line.split()[0]
        for name in ("run", "report", "diff", "export")
        for line in command(name, "--list-options").stdout.decode().splitlines()
    }
    used = set(re.findall(r"(?<![\w-])(--[a-z][\w-]+)", SKILL)) - {"--heaptide"}
    assert used <= known, used - known
    assert shutil.which("jq")


# --- the tutorial of the GPU


@pytest.fixture(scope="module")
def tensors(tmp_path_factory):
    """examples/tensors.py as it is and mended, on ROCm's runtime over a GPU made of host memory."""
    environment = gpu_gear.real_runtime()
    folder = tmp_path_factory.mktemp("tensors")
    for name, options in (("before", []), ("after", ["--fixed"])):
        program = [sys.executable, EXAMPLES / "tensors.py", *options]
        how = ["-q", "--py", "--py-depth", "4", "--gpu-timeline", "sites,streams"]
        run = heaptide_run.traced(program, out=folder / name, options=how, env=environment, timeout=240)
        assert run.status == 0, run.describe()
    return folder


def losses_at_peak(folder):
    """How many blocks of the device loss_of had at the peak, its line marked LOST."""
    lost = next(n for n, line in enumerate((EXAMPLES / "tensors.py").read_text().splitlines(), 1) if "# LOST" in line)
    (report,) = heaptide_run.read_reports(folder, *heaptide_run.EVERY_ROW)
    rows = [row for row in report["peak"] if row["kind"] == "device"]
    return sum(row["blocks"] for row in rows if ("loss_of", lost) in [(f["function"], f["line"]) for f in row["stack"]])


@pytest.mark.heavy
def test_the_gpu_tutorials_losses_pile_up(tensors):
    assert losses_at_peak(tensors / "before") >= 99 and losses_at_peak(tensors / "after") <= 2
    before, after = (heaptide_run.read_reports(tensors / name)[0]["growth"]["device"] for name in ("before", "after"))
    assert (before["verdict"], after["verdict"]) == ("fail", "pass")
