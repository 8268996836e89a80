"""`heaptide export`: each format opened by a reader that nobody here wrote, and holding the report's own numbers."""

import csv
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import gpu_gear
import heaptide_run
from heaptide_run import EVERY_ROW, command, execute, read_reports
from report_files import DEMO_POINTS, Report, demo_folder, folder_of, make_report

SCHEMA = json.loads((Path(__file__).parent / "readers" / "speedscope-schema.json").read_text())
# Where golang-github-google-pprof-dev puts it (Debian 12 and 13, Ubuntu 24.04).
PROFILE_PROTO = Path("/usr/share/gocode/src/github.com/google/pprof/proto/profile.proto")
FORMATS = ("speedscope", "pprof", "chrome", "massif", "folded", "csv")
LONG_NAME = "std::map<" + "pair<int, " * 500 + "int>" * 501
AWKWARD = [
    "<script>alert(1)</script>", 'quote " and \\ back', "semi;colon", "hash#1 {lambda()#2}", b"not utf8 \xff\xfe",
    "line\nbreak\ttab", LONG_NAME, "100%s %n", " leading and trailing ", "=1+1", "",
]  # fmt: skip


@pytest.fixture
def demo(tmp_path):
    return demo_folder(tmp_path)


@pytest.fixture
def awkward(tmp_path):
    """Two processes whose functions and files have names that could break a format."""
    reports = []
    for pid in (1, 2):
        report = Report(pid=pid, argv=["./a#b;c", 'x"y'], exe=b"/opt/pro#g;\xff ram", peak=1000, live=1000)
        for number, name in enumerate(AWKWARD):
            stack = report.stack(("python", name, name, number), ("jit", name, number + 1))
            report.site(stack, calls=(1, 0, 0, 10), live=(10, 1), peak=(10 + number, 1))
        report.sample(0, heap=10)
        report.sample(10**9, heap=500)
        reports.append(report.data())
    return folder_of(tmp_path, *reports)


def exported(folder, form, *options):
    """The bytes of an export that has to go well."""
    out = folder.parent / f"out.{form}"
    done = command("export", folder, "--format", form, "-o", out, *options)
    assert done.status == 0 and done.stdout == b"", done.describe()
    return out.read_bytes()


def totals(folder):
    """What the report says in all, of every process, by measure."""
    reports = read_reports(folder, *EVERY_ROW, "--fail-on", "none")
    return {
        "leaked": sum(
            row["direct_bytes"] + row["indirect_bytes"] for report in reports for row in report["leaks"]
        ) + sum(row["live_bytes"] for report in reports for row in report["python"] if row["leaked"]),
        "live": sum(report["summary"]["live_bytes"] for report in reports),
        "peak": sum(row["bytes"] for report in reports for row in report["peak"]),
        "allocated": sum(row["allocated_bytes"] for report in reports for row in report["hotspots"]),
        "temporaries": sum(row["temporaries"] for report in reports for row in report["temporaries"]),
    }  # fmt: skip


# --- speedscope: its published schema


def speedscope(folder, *options):
    shown = json.loads(exported(folder, "speedscope", *options))
    jsonschema.validate(shown, SCHEMA)
    for profile in shown["profiles"]:
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(index < len(shown["shared"]["frames"]) for sample in profile["samples"] for index in sample)
        assert profile["endValue"] == sum(profile["weights"])
    return shown


def test_speedscope_holds_every_figure(demo):
    shown = speedscope(demo)
    sums = {profile["name"].split(",")[0]: sum(profile["weights"]) for profile in shown["profiles"]}
    wanted = totals(demo)
    assert sums == wanted | {"live": sums["live"]} and sums["live"] == 12_800 + 6400 + 128 + 600
    frames = [frame["name"] for frame in shown["shared"]["frames"]]
    stacks = [[frames[index] for index in sample] for sample in shown["profiles"][0]["samples"]]
    assert ["[libc.so.6+0x1000]", "main", "[jit handle]"] in stacks
    assert {"name": "main", "file": "/opt/demo.py", "line": 40} in shown["shared"]["frames"]


def test_speedscope_shows_what_was_asked_for_first(demo):
    assert speedscope(demo)["profiles"][0]["name"] == "peak, demo pid 100"
    assert speedscope(demo, "--what", "leaked")["profiles"][0]["name"] == "leaked, demo pid 100"


# --- pprof: messages made from the published profile.proto


@pytest.fixture(scope="module")
def profile_class(tmp_path_factory):
    out = tmp_path_factory.mktemp("proto") / "profile.descriptors"
    subprocess.run(["protoc", f"--descriptor_set_out={out}", "-I", PROFILE_PROTO.parent, PROFILE_PROTO], check=True)
    files = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("perftools.profiles.Profile"))


def pprof(folder, profile_class, *options):
    """The profile, checked as pprof's own reader does: ids from 1, each reference to something that is there."""
    profile = profile_class.FromString(gzip.decompress(exported(folder, "pprof", *options)))
    assert profile.string_table[0] == "" and len(set(profile.string_table)) == len(profile.string_table)
    mappings, functions, locations = (
        {item.id for item in items} for items in (profile.mapping, profile.function, profile.location)
    )
    assert 0 not in mappings | functions | locations
    for location in profile.location:
        assert location.mapping_id in mappings | {0} and all(line.function_id in functions for line in location.line)
    for sample in profile.sample:
        assert len(sample.value) == len(profile.sample_type) and set(sample.location_id) <= locations
    return profile


def pprof_sums(profile):
    names = [profile.string_table[kind.type] for kind in profile.sample_type]
    return {name: sum(sample.value[index] for sample in profile.sample) for index, name in enumerate(names)}


def pprof_stacks(profile):
    """Of each sample, the functions from the leaf on, with its labels."""
    functions = {function.id: profile.string_table[function.name] for function in profile.function}
    lines = {location.id: functions[location.line[0].function_id] for location in profile.location}
    return [
        (
            [lines[number] for number in sample.location_id],
            {
                profile.string_table[label.key]: profile.string_table[label.str] if label.str else label.num
                for label in sample.label
            },
        )
        for sample in profile.sample
    ]


def test_pprof_holds_every_figure(demo, profile_class):
    profile = pprof(demo, profile_class)
    wanted = totals(demo)
    assert pprof_sums(profile) == {
        "alloc_objects": 2007, "alloc_space": wanted["allocated"], "inuse_objects": 207, "inuse_space": 19_928,
        "peak_space": wanted["peak"], "leaked_space": wanted["leaked"], "temporaries": wanted["temporaries"],
    }  # fmt: skip
    assert profile.string_table[profile.default_sample_type] == "peak_space"
    stacks = pprof_stacks(profile)
    assert (["[jit handle]", "main", "[libc.so.6+0x1000]"], {"kind": "heap", "program": "demo", "pid": 100}) in stacks
    assert (["load"], {"kind": "python", "program": "demo", "pid": 100}) in stacks
    assert profile.string_table[profile.mapping[0].filename] == "/opt/demo" and profile.duration_nanos == 2 * 10**9


def test_pprof_shows_what_was_asked_for_first(demo, profile_class):
    profile = pprof(demo, profile_class, "--what", "leaked")
    assert profile.string_table[profile.default_sample_type] == "leaked_space"


def test_pprof_keeps_awkward_names(awkward, profile_class):
    profile = pprof(awkward, profile_class)
    assert {LONG_NAME, "<script>alert(1)</script>", "line\nbreak\ttab", "not utf8 ??"} <= set(profile.string_table)
    assert {labels["pid"] for _, labels in pprof_stacks(profile)} == {1, 2}


# --- chrome: the documented trace event format


def trace_problems(trace):
    """What is not by "Trace Event Format": the phases used here, their fields and their types."""
    wrong = []
    needed = {"M": {"args"}, "X": {"dur"}, "C": {"args"}, "i": {"s"}}
    for event in trace["traceEvents"]:
        keys = {"ph", "name", "pid", "tid", "ts"} | needed.get(event.get("ph"), {"a known phase"})
        if keys - set(event):
            wrong.append(f"{event}: {keys - set(event)} missing")
        if not isinstance(event["pid"], int) or event["ts"] < 0 or event.get("dur", 0) < 0:
            wrong.append(f"{event}: a value of the wrong type or sign")
        if event["ph"] == "C" and not all(isinstance(value, (int, float)) for value in event["args"].values()):
            wrong.append(f"{event}: a counter that is no number")
    return wrong


def counters(trace, pid, name, what="bytes"):
    return [
        (event["ts"], event["args"][what])
        for event in trace["traceEvents"]
        if event["ph"] == "C" and event["pid"] == pid and event["name"] == name
    ]


def test_chrome_holds_the_timeline(demo):
    trace = json.loads(exported(demo, "chrome"))
    assert trace_problems(trace) == []
    assert counters(trace, 100, "heap") == [(i * 100_000, 1000 * (i + 1)) for i in range(20)]
    assert counters(trace, 100, "rss") == [(i * 100_000, 3_000_000) for i in range(20)]
    assert counters(trace, 100, "python") == [(i * 100_000, 0) for i in range(20)]
    assert counters(trace, 100, "device") == []
    calls = counters(trace, 100, "allocations", "calls")
    assert calls[:3] == [(0, 12), (0, 105), (100_000, 105)] and sum(count for _, count in calls) == 2007
    assert sum(count for _, count in counters(trace, 100, "temporaries", "calls")) == 900
    instants = [event for event in trace["traceEvents"] if event["ph"] == "i"]
    assert [(event["name"], event["ts"], event["args"]["live_bytes"]) for event in instants] == [
        ("load", 100_000, 2000), *(("epoch", 400_000 + 300_000 * i, 5000 + 3000 * i) for i in range(4))
    ]  # fmt: skip
    (site,) = {event["name"] for event in trace["traceEvents"] if event["name"].startswith("site 1: ")}
    assert site.endswith(", heap") and counters(trace, 100, site) == [
        (at // 1000, 100 * i) for i, at in enumerate(DEMO_POINTS)
    ]
    (span,) = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert (span["name"], span["dur"]) == ("demo", 2_000_000)


def test_chrome_sets_processes_beside_each_other(tmp_path):
    early, late = (Report(pid=pid, started=10**18 + pid * 10**9) for pid in (1, 2))
    for report in (early, late):
        report.sample(10**9, heap=5)
        report.process["kinds"] = {"heap": (5, 1, 5, 1, 0, 0, 5)}
    trace = json.loads(exported(folder_of(tmp_path, early.data(), late.data()), "chrome"))
    assert counters(trace, 1, "heap") == [(1_000_000, 5)] and counters(trace, 2, "heap") == [(2_000_000, 5)]


# --- massif: valgrind's ms_print


def ms_print(folder, *options):
    exported(folder, "massif", *options)
    done = execute(["ms_print", folder.parent / "out.massif"])
    assert done.status == 0 and done.stderr == "", done.describe()
    return done.stdout.decode(errors="replace")


def test_massif_is_read_by_ms_print(demo):
    text = ms_print(demo)
    assert "Command:            ./demo 1000" in text and "Number of snapshots: 21" in text
    snapshots = re.findall(r"^ *\d+ +([\d,]+) +([\d,]+) ", text, re.MULTILINE)
    values = [tuple(int(figure.replace(",", "")) for figure in snapshot) for snapshot in snapshots]
    # At one moment the peak stands before the sample.
    assert values == [(i * 100, 1000 * (i + 1)) for i in range(19)] + [(1900, 20_000), (1900, 20_000)]
    assert "(12,800B) 0x7F00: [jit handle]".lower() in text.lower()
    assert "->64.00% (12,800B) 0x0: main (demo.py:40)" in text and "Detailed snapshots: [19 (peak)]" in text


def test_massif_tree_adds_up(tmp_path):
    """Two callers of one function, and many places below one percent."""
    report = Report(peak=100_000)
    for caller, size in (("left", 30_000), ("right", 20_000)):
        report.site(report.stack(("jit", "make", 1), ("jit", caller, 2)), peak=(size, 1))
    for number in range(60):
        report.site(report.stack(("jit", f"small{number}", 10 + number)), peak=(500, 1))
    text = ms_print(folder_of(tmp_path, report.data()))
    assert "->50.00% (50,000B) 0x1: [jit make]" in text
    assert "| ->30.00% (30,000B) 0x2: [jit left]" in text and "| ->20.00% (20,000B) 0x2: [jit right]" in text
    assert "->30.00% (30,000B) in 60 places, all below massif's threshold (1.00%)" in text


def test_massif_holds_one_process(awkward):
    done = command("export", awkward, "--format", "massif", "-o", "-")
    assert done.status == 0 and "pid 1 was taken of 2" in done.stderr
    assert command("export", awkward, "--format", "massif", "-o", "-", "--pid", "2").stderr == ""


def test_massif_with_awkward_names(awkward):
    text = ms_print(awkward, "--pid", "2")
    assert "hash:1 {lambda():2}" in text and LONG_NAME in text and "line?break?tab" in text


# --- folded: gprof2dot's reader of collapsed stacks


def folded_graph(folder, *options):
    exported(folder, "folded", *options)
    done = execute([sys.executable, "-m", "gprof2dot", "-f", "collapse", "-n0", "-e0", folder.parent / "out.folded"])
    assert done.status == 0, done.describe()
    return done.stdout.decode()


def test_folded_is_read_by_gprof2dot(demo):
    graph = folded_graph(demo)
    assert re.search(r'label="main demo\.py:40\\n96\.99%', graph) and re.search(r"handle\]\\n64\.23%", graph)


@pytest.mark.parametrize("what", ["leaked", "live", "peak", "allocated", "temporaries"])
def test_folded_adds_up(demo, what):
    lines = exported(demo, "folded", "--what", what).decode().splitlines()
    wanted = totals(demo)[what] if what != "live" else 19_928
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == wanted
    assert exported(demo, "folded", "--what", what) == command("report", demo, "--folded", what).stdout


# --- csv


def test_csv_holds_every_figure(demo):
    rows = list(csv.DictReader(exported(demo, "csv").decode().splitlines()))
    sums = {key: sum(int(row[key]) for row in rows) for key in ("allocations", "live_bytes", "peak_bytes")}
    assert sums == {"allocations": 2007, "live_bytes": 19_928, "peak_bytes": totals(demo)["peak"]}
    (first,) = [row for row in rows if row["stack"].startswith("[jit handle] < ")]
    assert (first["kind"], first["leaked_direct_bytes"], first["leaked_direct_blocks"]) == ("heap", "12800", "100")
    assert first["stack"] == "[jit handle] < main demo.py:40 < [libc.so.6+0x1000]"


def test_csv_with_awkward_names(awkward):
    rows = list(csv.DictReader(exported(awkward, "csv").decode().split("\r\n")))
    assert len(rows) == 2 * len(AWKWARD) and all(None not in row and None not in row.values() for row in rows)
    assert {'quote " and \\ back', "not utf8 ??", LONG_NAME} <= {row["function"] for row in rows}


# --- the command


@pytest.mark.parametrize("form", FORMATS)
def test_awkward_names_and_several_processes(awkward, form):
    options = ["--pid", "2"] if form == "massif" else []
    assert exported(awkward, form, *options)
    if form == "speedscope":
        assert {profile["name"][-1] for profile in speedscope(awkward)["profiles"]} == {"1", "2"}
    if form == "chrome":
        assert trace_problems(json.loads(exported(awkward, form))) == []


@pytest.mark.parametrize("form", FORMATS)
def test_a_process_without_memory(form, tmp_path):
    assert exported(folder_of(tmp_path, Report().data()), form) or form == "folded"


def test_suppressed_leaks_are_left_out(demo, tmp_path):
    rules = tmp_path / "rules.supp"
    rules.write_text("leak:handle\n")
    (profile,) = [
        profile for profile in speedscope(demo, "--supp", rules)["profiles"] if profile["name"].startswith("leaked")
    ]
    assert sum(profile["weights"]) == totals(demo)["leaked"] - 12_800


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--format", "csv"],
        ["-o", "x"],
        ["--format", "svg", "-o", "x"],
        ["missing", "--format", "csv", "-o", "x"],
        ["{demo}", "--format", "csv", "-o", "no/such/folder/x"],
        ["{demo}", "--format", "csv", "-o", "/dev/full"],
        ["{demo}", "--format", "pprof", "-o", "/dev/full"],
        ["{demo}", "{demo}", "--format", "csv", "-o", "x"],
    ],
)
def test_bad_input(words, demo, tmp_path):
    done = command("export", *(str(demo) if word == "{demo}" else word for word in words), cwd=tmp_path)
    assert done.status == 2 and done.stdout == b"" and len(done.stderr.splitlines()) == 1, done.describe()


def test_the_newest_folder_is_taken(tmp_path):
    (tmp_path / "heaptide.demo.1").mkdir()
    (tmp_path / "heaptide.demo.1" / "heaptide.1.bin").write_bytes(make_report.demo().data(DEMO_POINTS))
    done = command("export", "--format", "folded", "-o", "-", cwd=tmp_path)
    assert done.status == 0 and done.stdout and "heaptide.demo.1 is the newest folder here" in done.stderr


def test_chrome_has_a_track_for_each_device_and_stream(out):
    """Two streams of a simulated GPU: the tracks hold what `report --json` says, and the device is their sum."""
    options = ["-q", "--gpu-timeline", "all", "--every", "20"]
    program = gpu_gear.program("hip_streams.c")
    run = heaptide_run.traced([program], out=out, options=options, env=gpu_gear.simulated(5), timeout=60)
    assert run.status == 0, run.describe()
    trace = json.loads(exported(out, "chrome"))
    assert trace_problems(trace) == []
    (report,) = read_reports(out, *EVERY_ROW, "--fail-on", "none")
    tracks = {
        name: dict(counters(trace, report["pid"], f"device 0, {name}")) for name in ("live", "stream 1", "stream 2")
    }
    for stream in report["gpu"]["streams"]:
        assert max(tracks[stream["name"]].values()) == stream["peak_bytes"], stream
    assert all(tracks["live"][at] == tracks["stream 1"][at] + tracks["stream 2"][at] for at in tracks["live"])
    assert max(tracks["live"].values()) == report["gpu"]["devices"][0]["peak_bytes"]


@pytest.mark.parametrize("form", ["speedscope", "pprof", "chrome", "massif"])
def test_estimates_are_said_to_be_such(form, tmp_path, profile_class):
    """In the format's own place for a comment; of exact figures nothing of the kind is said."""
    words = "figures estimated from a sample"
    said = {
        "speedscope": lambda folder: speedscope(folder)["name"],
        "pprof": lambda folder: (made := pprof(folder, profile_class)).string_table[made.comment[0]],
        "chrome": lambda folder: json.loads(exported(folder, "chrome"))["otherData"]["recorded"],
        "massif": lambda folder: exported(folder, "massif").decode().splitlines()[0],
    }[form]
    report = make_report.demo()
    assert words not in said(folder_of(tmp_path, report.data(make_report.DEMO_POINTS)))
    report.process["flags"] |= make_report.ESTIMATED
    assert words in said(folder_of(tmp_path, report.data(make_report.DEMO_POINTS)))
