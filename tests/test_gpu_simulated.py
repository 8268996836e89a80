"""GPU memory on the stand-in for the HIP runtime (simhip/): what the real one of Debian does not have."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

import expectations
import gpu_gear
import heaptide_run
from report_schema import schema_problems, total_problems
from test_life import wait_for

PLANTED = sorted(path.name for path in gpu_gear.PROGRAMS.glob("sim_*.c"))
ENVIRONMENT = {
    "sim_by_name.c": {"SIMHIP_FAIL": "hipMalloc:4:2,hipFree:1:1"},
    "sim_refused_frees.c": {"SIMHIP_FAIL": "hipFree:1:700,hipFreeArray:1:700,hipHostFree:1:700"},
    "sim_captures.c": {"SIMHIP_FAIL": "hipStreamEndCapture:1:901"},
}


def build(name):
    """The program, linked with the stand-in for the release that it names, and the environment to run it in."""
    major = int(re.search(r"^// simulated: (\d)", (gpu_gear.PROGRAMS / name).read_text(), re.MULTILINE)[1])
    environment = gpu_gear.simulated(major)
    folder = environment["LD_LIBRARY_PATH"]
    program = gpu_gear.program(name, flags=["-L" + folder, f"-l:libamdhip64.so.{major}", "-ldl"])
    return program, {**environment, "SIMHIP_GPUS": "2", **ENVIRONMENT.get(name, {})}


@pytest.mark.parametrize("name", PLANTED)
def test_planted(name, out):
    expectation = expectations.read(gpu_gear.PROGRAMS / name)
    program, environment = build(name)
    run = heaptide_run.beside([program], out=out, env=environment)
    assert run.status == expectation.status, run.describe()
    reports = run.reports(*heaptide_run.EVERY_ROW)
    main = [report for report in reports if report["main"]]
    wrong = expectations.problems(expectation, main[0])
    for child in (report for report in reports if not report["main"]):
        wrong += expectations.problems(expectation, child, leaks=expectation.child_leaks)
    for report in reports:
        wrong += schema_problems(report) + total_problems(report)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("limit", ["64", "unlimited"])
def test_cases_89_to_91(limit, out):
    """HIP by name, on a runtime that is a page long; with few descriptors, as a process that maps much memory has."""
    expectation = expectations.read(gpu_gear.PROGRAMS / "case_hip_use.c")
    program = gpu_gear.program("case_hip_use.c")
    few = [] if limit == "unlimited" else ["sh", "-c", f'ulimit -n {limit}; exec "$0"']
    run = heaptide_run.beside([*few, program], out=out, cwd=program.parent)
    report = run.reports(*heaptide_run.EVERY_ROW)[-1]
    assert report["exe"] == str(program) and run.status == 0, run.describe()
    wrong = expectations.problems(expectation, report) + schema_problems(report) + total_problems(report)
    assert not wrong, "\n".join(wrong)
    text = heaptide_run.command("report", out, "--fail-on", "none").stdout.decode()
    assert "1.00 GiB  of addresses reserved, which is no memory" in text


def test_late_frees_are_told(out):
    program, environment = build("sim_late.c")
    heaptide_run.traced([program], out=out, env=environment)
    text = heaptide_run.command("report", out).stdout.decode()
    assert "121 KiB  in 1 block given back on the way out" in text


SAYS = """
#include <unistd.h>
__attribute__((constructor)) static void up(void) { (void)!write(1, NAME " up\\n", sizeof NAME " up"); }
__attribute__((destructor)) static void down(void) { (void)!write(1, NAME " down\\n", sizeof NAME " down"); }
"""
CALLER = """
#define _GNU_SOURCE
#include <dlfcn.h>
int hipMalloc(void **, unsigned long);
void *lost;
int take(void) { return hipMalloc(&lost, 1 << 20); }
__attribute__((destructor)) static void last(void) {
  int (*give)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "hipFree");
  if (give) give(lost);
}
"""
LINKED = "int hipMalloc(void **, unsigned long); void *lost; int main(void) { return hipMalloc(&lost, 1 << 20); }"
OUTER = "int take(void); int outer(void) { return take(); }"
OPENER = """
#include <dlfcn.h>
int main(void) {
  int (*outer)(void) = (int (*)(void))dlsym(dlopen("libouter.so", RTLD_NOW), "outer");
  return outer ? outer() : 9;
}
"""


@pytest.mark.parametrize(
    ("program", "said"),
    [("linked", b"hip up\nhip down\n"), ("opener", b"hip up\ncaller up\ncaller down\nhip down\n")],
)
def test_the_programs_libraries_are_constructed_once(program, said, out, tmp_path):
    """The loader is not asked for a library that the process is past the destructors of: glibc's dlopen, for
    RTLD_NOLOAD too, runs the constructors again of one that was never opened by itself."""
    simhip = gpu_gear.TESTS / "simhip"
    texts = {"says": SAYS, "caller": CALLER, "outer": OUTER, "linked": LINKED, "opener": OPENER}
    for name, text in texts.items():
        (tmp_path / f"{name}.c").write_text(text)
    shared = ["-shared", "-fPIC", "-pthread"]
    script = f"-Wl,--version-script={simhip / 'simhip.map'}"
    hip = [simhip / "simhip.c", "says.c", "-Wl,-soname,libamdhip64.so.6", script, "-o", "libamdhip64.so.6"]
    for flags in (
        [*shared, '-DNAME="hip"', *hip],
        [*shared, '-DNAME="caller"', "caller.c", "says.c", "libamdhip64.so.6", "-o", "libcaller.so"],
        [*shared, "outer.c", "libcaller.so", "-Wl,-rpath-link,.", "-o", "libouter.so"],
        ["linked.c", "libamdhip64.so.6", "-o", "linked"],
        ["opener.c", "-o", "opener"],
    ):
        subprocess.run(["gcc", *flags], cwd=tmp_path, check=True)
    run = heaptide_run.beside([tmp_path / program], out=out, env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert run.stdout == said, run.describe()
    assert "simhip" in heaptide_run.command("report", out).stdout.decode()


GPU_POINTS = 512  # gpu_timeline.h: then every second one goes


def test_sites_over_time_add_up_to_the_device(out):
    """Whatever the sampler's walk through all sites can afford: device memory of each site, and of each stream, is
    there at every point."""
    options = ["--gpu-timeline", "sites,streams", "--every", "2"]
    program, environment = build("sim_sites.c")
    run = heaptide_run.traced([program], out=out, options=options, env=environment)
    assert run.status == 0, run.describe()
    report = run.report(*heaptide_run.EVERY_ROW)
    assert not schema_problems(report) and not total_problems(report)
    timeline, lines = report["timeline"], expectations.tagged_lines((gpu_gear.PROGRAMS / "sim_sites.c").read_text())
    assert sum(row["kind"] == "heap" for row in report["hotspots"]) > 4000
    count, step = len(timeline["seconds"]), 1
    while count / step >= GPU_POINTS:
        step *= 2
    points = [*range(0, count - 1, step), count - 1]
    sites = {row["site"]["line"]: row["bytes"] for row in timeline["sites"] if row["kind"] == "device"}
    assert set(sites) == {lines[tag] for tag in ("@small", "@large", "@streamed", "@worker")}
    assert [sum(curve[i] for curve in sites.values()) for i in points] == [timeline["device"][i] for i in points]
    assert set(sites[lines["@small"]]) == {0, 1000} and set(sites[lines["@large"]]) == {0, 1 << 20}
    (stream,) = timeline["streams"]
    assert [stream["bytes"][i] for i in points] == [sites[lines["@streamed"]][i] for i in points]
    # Each step lasts for longer than the samples are apart, and a step's values are kept by the call that ends it.
    assert set(stream["bytes"]) >= {(i * 32) << 10 for i in range(40)} or step > 2
    text = heaptide_run.command("report", out, "--fail-on", "none").stdout.decode()
    assert all(name in text.split("over time", 1)[1] for name in ("small", "large", "streamed", "work"))


ASKED = """
#define _GNU_SOURCE
#include <dlfcn.h>
int asked(void) { return dlsym(RTLD_DEFAULT, "hipMalloc") || dlvsym(RTLD_DEFAULT, "hipFree", "hip_4.2"); }
"""
ASKER = """
#include <unistd.h>
int asked(void);
__attribute__((constructor)) static void early(void) { (void)!write(1, asked() ? "HIP\\n" : "no HIP\\n", 7); }
"""
ASKING = "int asked(void); extern int other; int main(void) { return asked() + other; }"


def test_constructors_keep_their_turn(out, tmp_path):
    """A library that asks for a function of HIP before its own constructor had its turn, in a program without HIP."""
    texts = {"says": SAYS, "asked": ASKED, "asker": ASKER + "int other;", "asking": ASKING}
    for name, text in texts.items():
        (tmp_path / f"{name}.c").write_text(text)
    for flags in (
        ["-shared", "-fPIC", '-DNAME="asked"', "asked.c", "says.c", "-o", "libasked.so"],
        ["-shared", "-fPIC", "asker.c", "-o", "libasker.so"],  # does not say that it needs the other
        ["asking.c", "libasked.so", "libasker.so", "-o", "asking"],
    ):
        subprocess.run(["gcc", *flags], cwd=tmp_path, check=True)
    run = heaptide_run.beside([tmp_path / "asking"], out=out, env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert run.stdout == b"no HIP\nasked up\nasked down\n", run.describe()


PLUGIN = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
typedef int (*call)(void **, unsigned long);
void *kept[2];
int take(void) {
  call by_name = (call)dlsym(RTLD_DEFAULT, "hipMalloc");
  call in_version = (call)dlvsym(RTLD_DEFAULT, "hipMalloc", "hip_4.2");
  if (dlerror()) return 4;
  if (!by_name || !in_version || dlvsym(RTLD_DEFAULT, "hipMalloc", "hip_99") || !dlerror()) return 2;
  if (dlsym(RTLD_DEFAULT, "hipNoSuchFunction") || !dlerror()) return 3;
  return by_name(&kept[0], 1 << 20) || in_version(&kept[1], 2 << 20);
}
"""
STRANGER = """
#define _GNU_SOURCE
#include <dlfcn.h>
int strange(void) { return dlsym(RTLD_DEFAULT, "hipMalloc") || dlvsym(RTLD_DEFAULT, "hipMalloc", "hip_4.2"); }
"""
HOST = """
#include <dlfcn.h>
#define GET(library, name) ((int (*)(void))dlsym(dlopen(library, RTLD_NOW | RTLD_LOCAL), name))
int main(void) {
  int taken = GET("libplugin.so", "take")();
  return GET("libstranger.so", "strange")() ? 5 : taken;
}
"""


def test_by_default_in_a_scope_of_its_own(out, tmp_path):
    """dlsym(RTLD_DEFAULT) of a plugin that brings HIP along, by a library between them; for a plugin that does not
    there is none, though it is loaded."""
    texts = {"between": "int between;", "plugin": PLUGIN, "stranger": STRANGER, "host": HOST}
    for name, text in texts.items():
        (tmp_path / f"{name}.c").write_text(text)
    shared, environment = ["-shared", "-fPIC", "-Wl,--no-as-needed"], gpu_gear.simulated(6)
    hip = ["-L" + environment["LD_LIBRARY_PATH"], "-l:libamdhip64.so.6"]
    for flags in (
        [*shared, "between.c", *hip, "-o", "libbetween.so"],
        [*shared, "plugin.c", "libbetween.so", "-o", "libplugin.so"],
        [*shared, "stranger.c", "-o", "libstranger.so"],
        ["host.c", "-o", "host"],
    ):
        subprocess.run(["gcc", *flags], cwd=tmp_path, check=True)
    path = f"{tmp_path}:{environment['LD_LIBRARY_PATH']}"
    run = heaptide_run.beside([tmp_path / "host"], out=out, env={"LD_LIBRARY_PATH": path})
    assert run.status == 0, run.describe()
    assert run.report()["summary"]["by_kind"]["device"]["live_bytes"] == 3 << 20


def test_reservations_stand_apart(out):
    program, environment = build("sim_vmm.c")
    heaptide_run.traced([program], out=out, env=environment)
    text = heaptide_run.command("report", out, "--fail-on", "none").stdout.decode()
    assert "1.00 GiB  of addresses reserved, which is no memory" in text
    assert "simhip, simulated device" in text


def streams_so_far(out):
    """Of the one process that runs into `out`; empty as long as there is no checkpoint."""
    seen = heaptide_run.command("report", out, "--json", "--fail-on", "none")
    return json.loads(seen.stdout)["gpu"]["streams"] if seen.status == 0 else []


def killed_report(out, *options):
    """The last checkpoint of a program that is killed once one knows what it holds."""
    program, environment = build("killed.c")
    command = [heaptide_run.COMMAND, "run", "--out", out, *options, "--", program]
    environment = {**os.environ, **environment}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, start_new_session=True) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            wait_for(lambda: streams_so_far(out))
            (report,) = heaptide_run.read_reports(out)
            os.kill(report["pid"], signal.SIGKILL)
            assert process.wait(60) == -signal.SIGKILL
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    (report,) = heaptide_run.read_reports(out)
    assert report["reason"] == "killed" and not schema_problems(report) and not total_problems(report)
    return report


def test_killed_with_memory_in_use(out):
    """Devices, streams, sites and what was held over time are in what a checkpoint leaves; nothing of it is a leak."""
    report = killed_report(out, "--gpu-timeline", "all", "--every", "20")
    lines = expectations.tagged_lines((gpu_gear.PROGRAMS / "killed.c").read_text())
    mib = 1 << 20
    (device,) = report["gpu"]["devices"]
    assert device["device"] == 0 and device["live_bytes"] in (7 * mib, 7 * mib + 4096)
    assert device["peak_bytes"] in (7 * mib, 7 * mib + 4096)
    (stream,) = report["gpu"]["streams"]
    assert (stream["name"], stream["live_bytes"], stream["allocations"]) == ("stream 1", 2 * mib, 1)
    held = {row["site"]["line"]: row["bytes"] for row in report["peak"] if row["kind"] == "device"}
    assert (held[lines["@held"]], held[lines["@streamed"]]) == (5 * mib, 2 * mib)
    (curve,) = report["timeline"]["streams"]
    assert curve["name"] == "stream 1" and curve["bytes"][0] == 0 and curve["bytes"][-1] == 2 * mib
    assert [row for row in report["leaks"] if row["kind"] == "device"] == []
    text = heaptide_run.command("report", out, "--fail-on", "none", "--no-color").stdout.decode()
    head = text.split("LEAKS")[0]
    assert "OUT OF GPU MEMORY  1 allocation failed" in head and f"killed.c:{lines['@refused']}" in head
    assert f"killed.c:{lines['@held']}" in head  # who held the memory then
    (event,) = report["gpu"]["out_of_memory"]["events"]
    assert (event["asked_bytes"], event["live_bytes"]) == (1 << 45, 7 * mib)
    holders = [(row["site"]["line"], row["bytes"], row["blocks"]) for row in event["holders"]]
    assert holders == [(lines["@held"], 5 * mib, 5), (lines["@streamed"], 2 * mib, 1)]


def simulated_report(name, out, *options):
    """The run's report and its text."""
    program, environment = build(name)
    run = heaptide_run.traced([program], out=out, options=options, env=environment)
    assert run.status == 0, run.describe()
    text = heaptide_run.command("report", out, "--fail-on", "none", "--no-color").stdout.decode()
    return run.report(*heaptide_run.EVERY_ROW), text


def test_a_pool_that_ended_is_in_no_figure(out):
    _, text = simulated_report("sim_pool_ends.c", out)
    assert "10.0 MiB  in tensors, 10.0 MiB reserved by the pool and unused, 0 B outside the framework" in text
    assert "of device in a pool, unused at the peak, 10.0 MiB live in 1 block" in text


def test_host_memory_is_no_want_of_the_device(out):
    report, _ = simulated_report("sim_host_memory.c", out)
    lines = expectations.tagged_lines((gpu_gear.PROGRAMS / "sim_host_memory.c").read_text())
    told = report["gpu"]["out_of_memory"]
    assert told["failed"] == 1 and [event["site"]["line"] for event in told["events"]] == [lines["@refused"]]


def test_memory_on_the_host_is_no_devices(out):
    report, _ = simulated_report("sim_on_the_host.c", out)
    assert report["gpu"]["out_of_memory"]["failed"] == 0
    used = [(row["device"], row["live_bytes"]) for row in report["gpu"]["devices"] if row["peak_bytes"]]
    assert used == [(1, 12288)]
    assert [row["live_bytes"] for row in report["gpu"]["streams"]] == [12288]


def test_streams_beyond_the_limit_keep_their_device(out):
    report, _ = simulated_report("sim_stream_limit.c", out)
    assert [(row["device"], row["live_bytes"]) for row in report["gpu"]["devices"]] == [(0, 1 << 20), (1, 2 << 20)]
    assert len(report["gpu"]["streams"]) == 4096 and report["gpu"]["streams"][-1]["live_bytes"] == 3 << 20
    assert report["notes"] == ["there were more than 4096 streams of GPUs: those beyond are counted with the last one"]


def test_what_is_not_followed_over_time_is_said(out):
    """Of the process alone that used so many, not of its child."""
    options = ["--gpu-timeline", "all", "--every", "10", "--depth", "64"]
    program, environment = build("beyond_limits.c")
    run = heaptide_run.traced([program], out=out, options=options, env=environment)
    assert run.status == 0, run.describe()
    report, child = sorted(run.reports(*heaptide_run.EVERY_ROW), key=lambda report: not report["main"])
    assert child["notes"] == []
    assert len(report["timeline"]["streams"]) == 256
    assert sum(row["kind"] == "device" for row in report["timeline"]["sites"]) == 4096
    assert sorted(report["notes"]) == [
        "device memory came from more than 4096 sites: those beyond are not followed over time",
        "more than 256 streams of GPUs were used: those beyond are not followed over time",
    ]


REOPENER = """
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int count, char **paths) {
  for (int i = 1; i < count; i++) {
    void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL), *block;
    int (*make)(void **, unsigned long) = (int (*)(void **, unsigned long))dlsym(library, "hipMalloc");
    if (make(&block, 4096)) return 2;
    usleep(5000); // the driver is asked once in a millisecond
    dlclose(library);
    mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // the next one comes to lie elsewhere
  }
  return 0;
}
"""


def test_the_driver_of_a_library_that_is_closed_is_not_asked(out, tmp_path):
    """Three times another library, each at another address; the driver is asked in each round."""
    (tmp_path / "reopener.c").write_text(REOPENER)
    subprocess.run(["gcc", "reopener.c", "-o", "reopener"], cwd=tmp_path, check=True)
    paths = [f"{gpu_gear.simulated(major)['LD_LIBRARY_PATH']}/libamdhip64.so.{major}" for major in (6, 7, 6)]
    options = ["--gpu-timeline", "frag", "--every", "1"]
    run = heaptide_run.traced([tmp_path / "reopener", *paths], out=out, options=options)
    assert run.status == 0, run.describe()
    assert run.report()["gpu"]["fragmentation"] is not None


def test_memory_of_another_device_than_the_threads(out):
    report, _ = simulated_report("sim_other_device.c", out)
    mib = 1 << 20
    assert {row["device"]: row["live_bytes"] for row in report["gpu"]["devices"]} == {0: 0, 1: 23 * mib}
    asked = [(row["device"], row["asked_bytes"] >> 45) for row in report["gpu"]["out_of_memory"]["events"]]
    assert asked == [(1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6)]
    assert {row["live_bytes"] for row in report["gpu"]["out_of_memory"]["events"]} == {23 * mib}


def test_each_devices_driver_is_asked(out):
    """What it said last is what was live before the last allocation on each of two devices that have turns."""
    report, _ = simulated_report("in_turn.c", out, "--gpu-timeline", "frag", "--every", "5")
    curves = {row["device"]: row["bytes"][-1] for row in report["timeline"]["frag"] if row["what"] == "in_use"}
    assert curves == {0: 4 << 20, 1: 16 << 20}
    assert report["gpu"]["fragmentation"]["in_use_bytes"] == 20 << 20


def test_the_driver_is_asked_again_after_captures(out):
    """Whichever way they ended."""
    report, _ = simulated_report("sim_captures.c", out, "--gpu-timeline", "frag", "--every", "5")
    assert report["gpu"]["fragmentation"]["live_bytes"] == 42 << 20


def test_streams_that_are_not_used_take_no_places(out):
    """Of the streams and devices that are followed over time, in each form."""
    report, text = simulated_report("many_streams.c", out, "--gpu-timeline", "streams,frag", "--every", "10")
    timeline, mib = report["timeline"], 1 << 20
    assert [(row["name"], row["bytes"][-1]) for row in timeline["streams"]] == [("stream 300", mib)]
    asked = [(row["device"], row["what"]) for row in timeline["frag"]]
    assert asked == [(device, what) for device in (0, 1) for what in ("in_use", "pool_reserved")]
    over_time = text.split("over time", 1)[1]
    assert all(name in over_time for name in ("device 0 live", "device 1 live", "stream 300, device 0"))


def test_a_short_list_has_the_largest_streams(out):
    """In the order of their creation; text cuts their curves, too."""
    simulated_report("streams_by_size.c", out, "--gpu-timeline", "streams", "--every", "5")
    seen = heaptide_run.command("report", out, "--json", "--fail-on", "none", "--top", "3")
    report, wanted = json.loads(seen.stdout), ["stream 5", "stream 11", "stream 12"]
    assert [row["name"] for row in report["gpu"]["streams"]] == wanted
    assert len(report["timeline"]["streams"]) == 12
    text = heaptide_run.command("report", out, "--fail-on", "none", "--no-color", "--top", "3").stdout.decode()
    assert re.findall(r"peak of (stream \d+) on", text) == wanted and "... 9 more streams (--top)" in text
    assert re.findall(r"^  (stream \d+), device 0 ", text, re.MULTILINE) == wanted


def test_contexts_have_devices(out):
    report, _ = simulated_report("sim_contexts.c", out)
    assert [(row["device"], row["live_bytes"]) for row in report["gpu"]["devices"]] == [(0, 1024), (1, 10240)]


FRONT = """
#define _GNU_SOURCE
#include <dlfcn.h>
static int (*next)(void **, unsigned long);
int hipMalloc(void **block, unsigned long bytes) {
  if (!next) next = (int (*)(void **, unsigned long))dlsym(RTLD_NEXT, "hipMalloc");
  return bytes > 4 << 20 ? 2 : next(block, bytes);
}
"""
BEHIND = """
#define _GNU_SOURCE
#include <dlfcn.h>
int hipMalloc(void **, unsigned long);
int main(void) {
  void *block;
  int (*found)(void **, unsigned long) = (int (*)(void **, unsigned long))dlsym(RTLD_DEFAULT, "hipMalloc");
  if (hipMalloc(&block, 1 << 20) || found(&block, 2 << 20)) return 1;
  return hipMalloc(&block, 8 << 20) != 2 || found(&block, 8 << 20) != 2;
}
"""


def test_a_library_in_front_of_hip(out, tmp_path):
    """A preloaded library that limits what a program may take has its say, and what passes counts once, by each way."""
    (tmp_path / "front.c").write_text(FRONT)
    (tmp_path / "behind.c").write_text(BEHIND)
    environment = gpu_gear.simulated(6)
    hip = ["-L" + environment["LD_LIBRARY_PATH"], "-l:libamdhip64.so.6"]
    subprocess.run(["gcc", "-shared", "-fPIC", "front.c", "-o", "libfront.so"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "behind.c", *hip, "-o", "behind"], cwd=tmp_path, check=True)
    environment = {**environment, "LD_PRELOAD": str(tmp_path / "libfront.so")}
    run = heaptide_run.beside([tmp_path / "behind"], out=out, env=environment)
    assert run.status == 0, run.describe()
    device = run.report()["summary"]["by_kind"]["device"]
    assert (device["live_bytes"], device["allocations"]) == (3 << 20, 2)


def test_out_of_memory_names_the_largest_gap(out):
    """Of the pools of the device that was asked; what a pool's tensors hold is not held by the pool."""
    report, text = simulated_report("sim_gaps.c", out)
    lines = expectations.tagged_lines((gpu_gear.PROGRAMS / "sim_gaps.c").read_text())
    mib = 1 << 20
    first, second = report["gpu"]["out_of_memory"]["events"]
    assert (first["device"], first["asked_bytes"], first["live_bytes"]) == (0, 1 << 45, 120 * mib)
    assert (second["device"], second["asked_bytes"], second["live_bytes"]) == (1, 1 << 44, 40 * mib)
    assert (first["pool_gap_bytes"], second["pool_gap_bytes"]) == (9 * mib, 35 * mib)
    held = [(row["site"]["line"], row["bytes"]) for row in first["holders"]]
    assert held == [(lines["@outside"], 100 * mib), (lines["@pool"], 13 * mib), (lines["@tensors"], 7 * mib)]
    held = [(row["site"]["line"], row["bytes"]) for row in second["holders"]]
    assert held == [(lines["@other_pool"], 35 * mib), (lines["@other_tensor"], 5 * mib)]
    assert "32.0 TiB  asked of device 0" in text and "120 MiB held, largest gap in a pool 9.00 MiB" in text


def test_a_gap_may_lie_across_handles(out):
    report, _ = simulated_report("sim_gaps_mapped.c", out)
    (event,) = report["gpu"]["out_of_memory"]["events"]
    assert (event["live_bytes"], event["pool_gap_bytes"]) == (24 << 20, 12 << 20)


def test_a_gap_ends_at_another_devices_memory(out):
    report, _ = simulated_report("sim_gaps_shared.c", out)
    events = [(event["device"], event["pool_gap_bytes"]) for event in report["gpu"]["out_of_memory"]["events"]]
    assert events == [(0, 7 << 20), (1, 11 << 20)]


ASKING_PYTHON = """
import ctypes
library, block = ctypes.CDLL("libamdhip64.so.6"), ctypes.c_void_p()
def ask(name, size, *more):
    return getattr(library, name)(ctypes.byref(block), ctypes.c_size_t(size), *more)
assert [ask("hipMalloc", 1 << 20), ask("hipHostMalloc", 4096, 0), ask("hipMallocManaged", 8192, 1)] == [0, 0, 0]
def train():
    assert ask("hipMalloc", 1 << 45) == 2
train()
"""


def test_lines_of_python(out, tmp_path):
    """Blocks of each kind, and device memory that was refused, at the line of Python that asked for them."""
    script = tmp_path / "asking.py"
    script.write_text(ASKING_PYTHON)
    run = heaptide_run.traced([sys.executable, script], out=out, options=["--py"], env=gpu_gear.simulated(6))
    assert run.status == 0, run.describe()
    report = run.report(*heaptide_run.EVERY_ROW)

    def lines(stack):
        python = [frame for frame in stack if frame.get("lang", "python") == "python"]
        return [(frame["file"], frame["line"]) for frame in python if frame["file"]]

    def line(stack):
        return lines(stack)[0]

    leaks = {row["kind"]: row for row in report["leaks"] if row["kind"] in ("device", "pinned", "managed")}
    sizes = {kind: (row["direct_bytes"], row["blocks"]) for kind, row in leaks.items()}
    assert sizes == {"device": (1 << 20, 1), "pinned": (4096, 1), "managed": (8192, 1)}
    assert {line(row["stack"]) for row in leaks.values()} == {(str(script), 5)}
    (event,) = report["gpu"]["out_of_memory"]["events"]
    assert lines(event["stack"]) == [(str(script), number) for number in (5, 8, 9)], "all of them"
    assert line(event["holders"][0]["stack"]) == (str(script), 5)
    text = heaptide_run.command("report", out, "--fail-on", "none", "--no-color").stdout.decode()
    assert "asking.py:5" in text.split("LEAKS")[0]
