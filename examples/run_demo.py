"""Runs heaptide on the three examples, prints their reports, and checks that they say what was planted.

python examples/run_demo.py VENV     VENV holds heaptide and numpy; work goes to build/demo
"""

import json
import os
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


def chapter(title):
    print(f"\n==== {title}\n", flush=True)


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


def check_gpu(process):
    """What the head of gpu.c says."""
    planted_line = 1 + (EXAMPLES / "gpu.c").read_text().split("// LEAK")[0].count("\n")
    found = [(leak["direct_bytes"], leak["blocks"], leak["site"]["line"]) for leak in process["leaks"]]
    expect("lost device blocks", found, [(25 << 20, 25, planted_line)])
    expect("streams", [row["name"] for row in process["gpu"]["streams"]], ["stream 1"])
    expect("device", process["gpu"]["devices"][0]["name"], "simhip")


def run_gpu(heaptide):
    """The example for GPUs, above the tests' stand-in for AMD's runtime: a simulated device."""
    library = WORK / "libamdhip64.so.6"
    source = EXAMPLES.parent / "tests" / "simhip"
    flags = ["-O2", "-fPIC", "-shared", "-pthread", "-Wl,-soname,libamdhip64.so.6"]
    run("gcc", *flags, f"-Wl,--version-script={source / 'simhip.map'}", source / "simhip.c", "-o", library)
    program = WORK / "gpu"
    run("gcc", "-g", "-O0", EXAMPLES / "gpu.c", library, f"-Wl,-rpath,{WORK}", "-o", program)
    run(heaptide, "run", "--gpu-timeline", "all", "--out", WORK / "on-gpu", "--", program)


def main(venv):
    heaptide, python = Path(venv, "bin/heaptide").absolute(), Path(venv, "bin/python").absolute()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)

    chapter("1 of 3: a C program that forgets what it allocated for every tenth request: see LEAKS")
    run("gcc", "-g", "-O0", EXAMPLES / "demo.c", "-o", WORK / "demo")
    run(heaptide, "run", "--out", WORK / "c", "--", WORK / "demo")
    check_c(*report(heaptide, WORK / "c"))

    chapter("2 of 3: a Python program that loses an object on every tenth step: see GROWTH and PYTHON")
    run(heaptide, "run", "--py", "--out", WORK / "py", "--", python, EXAMPLES / "train.py")
    check_python(next(process for process in report(heaptide, WORK / "py") if process["main"]))

    chapter("3 of 3: a program that loses memory of a (simulated) GPU: see LEAKS and GPU")
    run_gpu(heaptide)
    check_gpu(*report(heaptide, WORK / "on-gpu"))
    print("demo: the reports say what was planted")
    chapter("Now yours")
    folder = Path(venv, "bin")
    print(f"    source {folder}/activate            # this demo's heaptide, for this shell")
    print("    heaptide run ./your-program         # or: heaptide run --py python your-script.py")
    print("    heaptide report                     # heaptide help says what else there is")
    print(f"    heaptide flame {os.path.relpath(WORK)}/py --open    # the Python example as a page")


if __name__ == "__main__":
    main(sys.argv[1])
