"""Names of addresses: which symbolizer is asked, and what happens when none answers."""

import json
import shutil
import subprocess
import time

import pytest

from heaptide_run import command
from report_files import Report, folder_of

SOURCE = """#include <stdlib.h>
static inline __attribute__((always_inline)) void *inner(void) { return malloc(3000); }
__attribute__((noinline)) void lose_here(void) { *(volatile char *)inner() = 1; }
int table[100];
int main(void) { lose_here(); return table[0]; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program in a place that is hard to quote."""
    place = tmp_path_factory.mktemp("pro") / "a \"b\" 'c'\nd"
    place.mkdir()
    (place / "lose.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "lose.c", "-o", "lose"], cwd=place, check=True)
    return place / "lose"


def address_of(program, name):
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[0], 16) for line in symbols.splitlines() if line.split()[-1] == name)


def build_id_of(program):
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    return bytes.fromhex(notes.split("Build ID: ")[1].split()[0])


def reports(tmp_path, program, build_id=None):
    """A folder in which `program` lost 3000 bytes in inner, inlined into lose_here."""
    report = Report()
    module = report.module(str(program), build_id=build_id_of(program) if build_id is None else build_id)
    site = report.site(report.stack((module, address_of(program, "lose_here") + 12)), live=(3000, 1), peak=(3000, 1))
    report.leak(site, direct=(3000, 1))
    report.holder(site, (2, module, 0, address_of(program, "table") + 8))
    return folder_of(tmp_path, report.data())


def shown(folder, **env):
    done = command("report", folder, "--json", env=env, timeout=60)
    assert done.status == 1, done.describe()
    return json.loads(done.stdout), done.stderr


def names(report):
    return [(frame["function"], frame["line"]) for frame in report["leaks"][0]["stack"]]


def stub(place, name, text):
    path = place / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


def test_inlined_frames_and_globals(program, tmp_path):
    report, errors = shown(reports(tmp_path, program))
    assert names(report) == [("inner", 2), ("lose_here", 3)] and errors == ""
    assert report["leaks"][0]["site"]["function"] == "inner"
    assert report["peak"][0]["held_by"] == ["global table"] and report["notes"] == []


def test_without_a_symbolizer_the_symbol_table_names(program, tmp_path):
    report, errors = shown(reports(tmp_path, program), PATH=str(tmp_path), HOME=str(tmp_path), VIRTUAL_ENV=None)
    if "none that works" not in errors:
        pytest.skip("a symbolizer lies outside PATH")
    assert names(report) == [("lose_here", None)] and errors.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["exit 1", "echo nonsense", "echo '{'; exit 0", "kill -SEGV $$"], ids=["fails", "talks", "stops", "dies"]
)
def test_next_choice(text, program, tmp_path):
    broken = stub(tmp_path, "broken", text)
    report, errors = shown(reports(tmp_path, program), HEAPTIDE_SYMBOLIZER=broken)
    assert names(report) == [("inner", 2), ("lose_here", 3)]
    assert errors.count("\n") == 1 and str(broken) in errors


def test_a_name_left_mangled_is_demangled(program, tmp_path):
    """llvm-symbolizer's own demangler knows less than libstdc++'s."""
    answer = '{"Symbol":[{"FunctionName":"_ZN5store3addEi","FileName":"/s.cc","Line":7,"Column":3}]}'
    printer = stub(tmp_path, "printer", f"while read -r line; do echo '{answer}'; done")
    report, errors = shown(reports(tmp_path, program), HEAPTIDE_SYMBOLIZER=printer)
    assert names(report) == [("store::add(int)", 7)] and errors == ""


def test_path_with_a_version_suffix(program, tmp_path):
    real, place = shutil.which("llvm-symbolizer") or shutil.which("llvm-symbolizer-14"), tmp_path / "bin"
    place.mkdir()
    for version, text in (("9", "exit 1"), ("14", f'exec {real} "$@"')):
        stub(place, f"llvm-symbolizer-{version}", text)
    report, errors = shown(reports(tmp_path, program), PATH=str(place))
    assert names(report) == [("inner", 2), ("lose_here", 3)] and errors == ""


def test_debuginfod_has_a_time_limit(program, tmp_path):
    """A symbolizer that waits for servers is asked again without them."""
    real = shutil.which("llvm-symbolizer")
    waits = stub(tmp_path, "waits", f'[ -z "$DEBUGINFOD_URLS" ] || exec sleep 1000\nexec {real} "$@"')
    folder = reports(tmp_path, program)
    began = time.monotonic()
    report, errors = shown(folder, HEAPTIDE_SYMBOLIZER=waits, DEBUGINFOD_URLS="http://10.255.255.1")
    assert time.monotonic() - began < 25
    assert names(report) == [("inner", 2), ("lose_here", 3)] and "debuginfod" in errors and errors.count("\n") == 1


def test_another_build_is_not_named(program, tmp_path):
    report, errors = shown(reports(tmp_path, program, build_id=b"another build at all"))
    assert names(report) == [(None, None)] and errors == ""
    assert any("has changed" in note for note in report["notes"])
    assert report["peak"][0]["held_by"] == [f"global [lose+{address_of(program, 'table') + 8:#x}]"]


def test_separate_debug_file(program, tmp_path):
    """By .gnu_debuglink in .debug; one of another build is refused with a note."""
    stripped, debug = tmp_path / "lose", tmp_path / ".debug" / "lose.debug"
    debug.parent.mkdir()
    for words in (["objcopy", "--only-keep-debug", program, debug], ["cp", program, stripped],
                  ["strip", stripped], ["objcopy", f"--add-gnu-debuglink={debug}", stripped]):  # fmt: skip
        subprocess.run(words, check=True)
    report = Report()
    module = report.module(str(stripped), build_id=build_id_of(program))
    site = report.site(report.stack((module, address_of(program, "lose_here") + 12)), live=(1, 1))
    report.leak(site, direct=(1, 1))
    folder = folder_of(tmp_path, report.data())
    assert names(shown(folder)[0]) == [("inner", 2), ("lose_here", 3)]
    other = tmp_path / "other.c"
    other.write_text("int main(void) { return 3; }\n")
    subprocess.run(["gcc", "-g", other, "-o", debug], check=True)
    refused, _ = shown(folder)
    assert names(refused) == [(None, None)] and any("another build" in note for note in refused["notes"])


VERSIONED = """
__asm__(".symver alone_1, alone@@VERS_1");
__asm__(".symver twin_1, twin@VERS_1");
__asm__(".symver twin_2, twin@@VERS_2");
__asm__(".symver beside_1, beside@VERS_1");
__asm__(".symver table_1, table@VERS_1");
int alone_1(void) { return 1; }
int twin_1(void) { return 2; }
int twin_2(void) { return 3; }
int beside_1(void) { return 4; }
__attribute__((used)) static int beside(void) { return 5; }
int table_1[100];
"""


@pytest.fixture(scope="module")
def versioned(tmp_path_factory):
    """A library without lines whose symbol table has versions in its names."""
    place = tmp_path_factory.mktemp("versions")
    (place / "versioned.c").write_text(VERSIONED)
    (place / "map").write_text("VERS_1 { local: *; }; VERS_2 {} VERS_1;")
    link = ["-shared", "-fPIC", "-Wl,--version-script=map", "-o", "libversioned.so"]
    subprocess.run(["gcc", "-O0", "versioned.c", *link], cwd=place, check=True)
    return place / "libversioned.so"


def leaks_named(tmp_path, library, *symbols, more=lambda report, module: None):
    """What the report calls the functions at these symbols of the library's table."""
    report = Report()
    module = report.module(str(library), build_id=build_id_of(library))
    for size, symbol in enumerate(symbols, 1):
        site = report.site(report.stack((module, address_of(library, symbol) + 1)), live=(size, 1), peak=(size, 1))
        report.leak(site, direct=(size, 1))
    more(report, module)
    folder = folder_of(tmp_path, report.data())
    found = json.loads(command("report", folder, "--json").stdout)
    lines = command("report", folder, "--folded", "leaked").stdout.decode().splitlines()
    text = command("report", folder).stdout.decode()
    named = [leak["site"]["function"] for leak in sorted(found["leaks"], key=lambda leak: leak["direct_bytes"])]
    assert sorted(line.rsplit(" ", 1)[0] for line in lines) == sorted(named)
    assert all(name in text for name in named)
    return named, found


def test_versions_of_symbols_are_not_shown(tmp_path, versioned):
    assert leaks_named(tmp_path, versioned, "alone@@VERS_1", "twin@VERS_1")[0] == ["alone", "twin"]


def test_versions_are_shown_where_they_tell_functions_apart(tmp_path, versioned):
    named, _ = leaks_named(tmp_path, versioned, "alone@@VERS_1", "twin@VERS_1", "twin@@VERS_2")
    assert named == ["alone", "twin@VERS_1", "twin@@VERS_2"]
    assert leaks_named(tmp_path, versioned, "beside@VERS_1", "beside")[0] == ["beside@VERS_1", "beside"]


def test_versions_of_variables_are_not_shown(tmp_path, versioned):
    def held(report, module):
        report.holder(1, (2, module, 0, address_of(versioned, "table@VERS_1") + 8))

    _, found = leaks_named(tmp_path, versioned, "alone@@VERS_1", more=held)
    assert found["peak"][0]["held_by"] == ["global table"]
