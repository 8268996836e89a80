"""Runs heaptide on the two examples, prints both reports, and checks that they say what was planted.

python examples/run_demo.py VENV     VENV holds heaptide and numpy; work goes to build/demo
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
WORK = EXAMPLES.parent / "build" / "demo"
FINDINGS = 1  # the exit status of a report that found something


def run(*command):
    print("$", " ".join(map(str, command)), flush=True)
    subprocess.run(command, check=True)


def report(heaptide, folder):
    """Prints the report and returns its processes as JSON has them."""
    print("$", "heaptide report", folder, flush=True)
    status = subprocess.run([heaptide, "report", folder]).returncode
    if status != FINDINGS:
        sys.exit(f"demo: heaptide report {folder} ended with {status} instead of {FINDINGS}")
    output = subprocess.run([heaptide, "report", folder, "--json"], stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in output.splitlines()]


def expect(what, found, planted):
    if found != planted:
        sys.exit(f"demo: {what}: planted {planted}, the report says {found}")


def check_c(process):
    """What the head of demo.c says that the report has to say."""
    summary = process["summary"]
    expect("direct bytes", summary["leaked_direct_bytes"], 12800)
    expect("indirect bytes", summary["leaked_indirect_bytes"], 6400)
    expect("leaked blocks", summary["leaked_blocks"], 200)
    expect("live bytes", summary["live_bytes"], 19328)
    expect("temporaries", summary["temporaries"], 900)
    expect("growth", process["growth"]["cpu"]["verdict"], "pass")


def check_python(process):
    """160 blocks of 524288 bytes leaked, each with its header, by the line marked LEAK."""
    lines = (EXAMPLES / "train.py").read_text().splitlines()
    planted_line = next(number for number, line in enumerate(lines, 1) if re.search("# LEAK", line))
    found = 0
    for leak in process["leaks"]:
        places = [(Path(frame["file"] or "").name, frame["line"]) for frame in leak["stack"]]
        if ("train.py", planted_line) in places:
            found += leak["direct_bytes"] + leak["indirect_bytes"]
    for entry in process["python"]:
        place = entry["site"]
        if entry["leaked"] and (Path(place["file"] or "").name, place["line"]) == ("train.py", planted_line):
            found = max(found, entry["live_bytes"])
    if not 160 * 524288 <= found < 161 * 524288:
        sys.exit(f"demo: train.py:{planted_line}: planted {160 * 524288} bytes, the report says {found}")


def main(venv):
    heaptide, python = Path(venv, "bin/heaptide").absolute(), Path(venv, "bin/python").absolute()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)

    run("gcc", "-g", "-O0", EXAMPLES / "demo.c", "-o", WORK / "demo")
    run(heaptide, "run", "--out", WORK / "c", "--", WORK / "demo")
    check_c(*report(heaptide, WORK / "c"))

    run(heaptide, "run", "--py", "--out", WORK / "py", "--", python, EXAMPLES / "train.py")
    check_python(next(process for process in report(heaptide, WORK / "py") if process["main"]))
    print("demo: both reports say what was planted")


if __name__ == "__main__":
    main(sys.argv[1])
