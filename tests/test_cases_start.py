"""Cases A: starting up, and standing between the program and its allocator. cases/ holds the programs."""

import subprocess
import sys
from pathlib import Path

import pytest

import heaptide_run
import program_build
from conftest import CASES
from expectations import rows_at
from heaptide_run import EVERY_ROW, beside, command, execute
from report_schema import schema_problems, total_problems


def sound_report(run, *options):
    """The main report, found to be by the schema and to add up."""
    report = run.report(*EVERY_ROW, *options)
    assert schema_problems(report) + total_problems(report) == []
    return report


def leaked(report, kind="heap"):
    """{line: (bytes, blocks)} of the unsuppressed leaks of a kind."""
    found = {}
    for row in report["leaks"]:
        if row["kind"] == kind and not row["suppressed"]:
            key = (Path(row["site"]["file"] or "?").name, row["site"]["line"])
            bytes_, blocks = found.get(key, (0, 0))
            found[key] = (bytes_ + row["direct_bytes"] + row["indirect_bytes"], blocks + row["blocks"])
    return found


def test_01_program_with_its_own_malloc(case, out):
    run = beside([case("own_malloc.c", flags=("-rdynamic", "-pthread"))], out=out)
    report = sound_report(run)
    assert any("malloc" in note for note in report["notes"]), report["notes"]
    assert report["summary"]["by_kind"]["mmap"]["allocations"] >= 11, "100,000 blocks of 128 B in chunks of 1 MiB"


def test_01_program_that_takes_the_address_of_malloc(case, out):
    run = beside([case("canonical_plt.c", flags=("-no-pie", "-fno-pie"))], out=out)
    report = sound_report(run)
    assert leaked(report) == {("canonical_plt.c", 7): (100, 1)}
    assert not any("its own malloc" in note for note in report["notes"]), report["notes"]


def hidden_allocator(folder):
    names = ["-DLIB"] + [f"-D{name}=my_{name}" for name in ("malloc", "free", "calloc", "realloc")]
    library = folder / "libhidden.so"
    source = CASES / "own_malloc.c"
    subprocess.run(["gcc", "-g", "-O0", "-w", "-shared", "-fPIC", *names, source, "-o", library], check=True)
    program = folder / "hidden_malloc"
    rpath = ["-L", folder, "-lhidden", f"-Wl,-rpath,{folder}"]
    subprocess.run(["gcc", "-g", "-O0", CASES / "hidden_malloc.c", "-o", program, *rpath], check=True)
    return program


def test_02_allocator_hidden_inside_a_library(tmp_path, out):
    run = beside([hidden_allocator(tmp_path)], out=out)
    assert run.stdout == b"done\n"
    report = sound_report(run)
    chunks = [row for row in report["peak"] if row["kind"] == "mmap"]
    assert sum(row["blocks"] for row in chunks) >= 11
    modules = {Path(frame["module"]).name for row in chunks for frame in row["stack"] if frame["module"]}
    assert "libhidden.so" in modules, "the chunks' owner is named"


def test_04_allocator_that_calls_more_under_its_lock(tmp_path, out):
    """own_malloc.c with madvise and open inside its lock."""
    text = (CASES / "own_malloc.c").read_text()
    changed = text.replace(
        "end = cur + len;",
        "end = cur + len; madvise(cur, len, MADV_DONTNEED);\n"
        '    int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY); close(fd);\n',
    )
    assert changed != text
    source = tmp_path / "own_malloc_calls.c"
    source.write_text("#include <fcntl.h>\n#include <unistd.h>\n" + changed)
    run = beside([program_build.build(source, flags=("-rdynamic", "-pthread"))], out=out)
    assert any("malloc" in note for note in sound_report(run)["notes"])


TLS_FULL = """
import ctypes, sys
try:
    for n in range(1, 61): ctypes.CDLL(f"./libt{n}.so")
except OSError as error:
    assert "static TLS" in str(error) and n > 1, error
else:
    sys.exit("there was room for all")
print("ready", flush=True)
sys.stdin.read()
sys.exit(7)
"""


def test_05_no_room_in_the_static_tls_block(tmp_path, out):
    """tls_full.sh builds what fills it up. attach gets in, or says what is wrong; the program goes on either way."""
    execute(["sh", CASES / "tls_full.sh", "/dev/null"], cwd=tmp_path)
    process = subprocess.Popen([sys.executable, "-c", TLS_FULL], stdin=-1, stdout=-1, cwd=tmp_path, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        run = command("attach", process.pid, "--out", out)
        refused = run.status == 2 and "static TLS" in run.stderr and len(run.own_stderr) == 1 and not out.exists()
        assert run.status == 0 or refused, run.describe()
        if run.status == 0:
            assert command("detach", out).status == 0
        process.communicate(timeout=20)
        assert process.returncode == 7
    finally:
        process.kill()
        process.wait()


def test_07_library_that_finds_its_neighbour_by_runpath(tmp_path, out):
    execute(["sh", CASES / "rpath.sh"], cwd=tmp_path)
    run = beside(["./rpath"], out=out, cwd=tmp_path)
    assert (run.status, run.stdout) == (0, b"7\n")


def test_08_dlsym_next_and_absent_names(case, out):
    run = beside([case("next.c", flags=("-ldl",))], out=out)
    assert (run.status, run.stdout) == (0, b"1 1\n")
    assert leaked(sound_report(run)) == {("next.c", 9): (4096, 1)}


def test_09_plugin_opened_with_deepbind(case, out):
    program = case("deepbind.c", flags=("-ldl",), libraries={"libplug.so": ["-DPLUGIN"]})
    run = beside([program], out=out, cwd=program.parent)
    report = sound_report(run)
    lost = leaked(report)
    named = any("libplug.so" in note for note in report["notes"])
    assert lost == {("deepbind.c", 9): (4096, 1)} or (named and not lost), (lost, report["notes"])


@pytest.mark.parametrize("binding", ["now", "lazy"])
def test_09_redirected_pages_stay_closed(binding, case, out):
    link = ["-DPLUGIN", f"-Wl,-z,relro,-z,{binding}"]
    program = case("deepbind_closed.c", flags=("-ldl",), libraries={"libclosed.so": link})
    run = beside([program], out=out, cwd=program.parent)
    assert b" r--p\n" in run.stdout and b" rw-p\n" in run.stdout, "the program looked at nothing"
    assert leaked(run.report()) == {("deepbind_closed.c", 9): (4096, 1)}


def test_11_many_short_children(out):
    script = "git --version; for i in $(seq 300); do true; /bin/true; done; gcc --version"
    run = beside(["/bin/sh", "-c", script], out=out)
    reports = run.reports()
    helpers = [report for report in reports if Path(report["exe"]).name == "true"]
    assert len(helpers) == 300 and all(report["quiet"] for report in helpers)
    text = heaptide_run.command("report", out).stdout.decode()
    assert "QUIET" in text


def test_11_children_chosen_by_name(out):
    script = "git --version; for i in $(seq 20); do /bin/true; done; exit 3"
    run = beside(["/bin/sh", "-c", script], out=out, options=["--only", "git"])
    assert run.status == 3
    assert {Path(report["exe"]).name for report in run.reports()} == {"git"}


def test_13_every_entry_point(case, out):
    run = beside([case("all_api.c")], out=out)
    report = sound_report(run)
    sizes = sorted(row["direct_bytes"] for row in report["leaks"] if row["blocks"] == 1)
    assert sizes == [1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1010, 1011, 1012, 1013, 4096]
    assert {Path(row["site"]["file"]).name for row in report["leaks"]} == {"all_api.c"}
    freed = rows_at(report, "hotspots", CASES / "all_api.c", 18)
    assert sorted(row["allocated_bytes"] for row in freed) == [500, 512]


def test_hooked_functions_linked_into_a_plugin(case, out):
    """What the hooks of PyTorch's, Mojo's and HIP's functions are called for is done, though no library of the known
    name is there: the output is the bare program's."""
    run = beside([case("hooked_inside.c")], out=out)
    assert run.stdout == b"depends engine 7\nevaluated engine\nreported 4096\ndeleted 1\nhip 2 0 0\n", run.describe()
