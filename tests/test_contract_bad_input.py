"""What goes wrong, said in one line: `heaptide: WHAT: WHY; what to do`. The traced program runs to its own end."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import zlib
from pathlib import Path

import pytest

import heaptide_run
import program_build
from conftest import PLANTED
from heaptide_run import command, execute

MESSAGE = r"heaptide: [^:]+.*: .+; .+"
SHOWS_INSIDES = re.compile(r"Traceback|assert|0x[0-9a-f]{8}|\.c:\d+|core dumped")


def only_line(run):
    """The one line on stderr, which has the form of a message."""
    lines = run.stderr.splitlines()
    assert len(lines) == 1, run.describe()
    return checked(lines[0])


def checked(line):
    assert re.fullmatch(MESSAGE, line), f"not `heaptide: WHAT: WHY; what to do`: {line}"
    assert not SHOWS_INSIDES.search(line), line
    return line


# --- the command line

BAD_RUN_LINES = [
    ["--no-such-option", "--", "/bin/true"],
    ["-z", "/bin/true"],
    ["--depth", "none", "--", "/bin/true"],
    ["--depth", "0", "--", "/bin/true"],
    ["--depth", "-3", "--", "/bin/true"],
    ["--depth", "99999999999999999999", "--", "/bin/true"],
    ["--every", "0", "--", "/bin/true"],
    ["--every", "soon", "--", "/bin/true"],
    ["--sample", "-1", "--", "/bin/true"],
    ["--sample", "1x", "--", "/bin/true"],
    ["--py-depth", "0", "--", "/bin/true"],
    ["--fail-on", "sometimes", "--", "/bin/true"],
    ["--out", "", "--", "/bin/true"],
    ["--only", "", "--", "/bin/true"],
    ["--out"],
    ["--depth"],
    ["--fail-on"],
    ["--"],
    [],
]


@pytest.mark.parametrize("words", BAD_RUN_LINES, ids=" ".join)
def test_bad_run_line(words, tmp_path):
    run = command("run", *words, cwd=tmp_path)
    assert run.status == 125
    line = only_line(run)
    if words and words[0] not in ("--", "-z"):
        assert words[0] in line, f"{words[0]} is not named in {line}"
    assert list(tmp_path.iterdir()) == [], "nothing may have been started or written"


BAD_REPORT_LINES = [
    ["--no-such-option"],
    ["-z"],
    ["--top"],
    ["--top", "many"],
    ["--top", "-1"],
    ["--top", "10x"],
    ["--fail-on"],
    ["--fail-on", "always"],
    ["--fail-on", ""],
    ["--growth-limit"],
    ["--growth-limit", "much"],
    ["--growth-limit", "-5"],
    ["--folded"],
    ["--folded", "everything"],
    ["--pid"],
    ["--pid", "me"],
    ["--supp"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return record(tmp_path_factory.mktemp("bad") / "out")


def record(out):
    heaptide_run.traced([program_build.build(PLANTED / "two_leaks.c")], out=out, options=["-q"])
    return out


@pytest.mark.parametrize("words", BAD_REPORT_LINES, ids=" ".join)
def test_bad_report_line(words, folder):
    done = command("report", folder, *words)
    assert done.status == 2 and done.stdout == b"", done.describe()
    line = only_line(done)
    assert words[0] in line, line


def test_two_folders(folder, tmp_path):
    done = command("report", folder, tmp_path)
    assert done.status == 2
    only_line(done)


def test_unknown_command():
    done = command("rum")
    assert done.status == 2 and "rum" in only_line(done)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["reprot"], "did you mean report?"),
        (["version"], "did you mean --version?"),
        (["true"], "heaptide run true"),
        (["frobnicate"], "see heaptide help"),
        (["run", "--pyy", "true"], "did you mean --py?"),
        (["run", "--depht=3", "true"], "did you mean --depth?"),
        (["report", "--sup", "x"], "did you mean --supp?"),
        (["report", "--colour"], "see heaptide help report"),
        (["report", "-p"], "see heaptide help report"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_one_meant(words, meant, tmp_path):
    line = only_line(command(*words, cwd=tmp_path))
    assert meant in line and ("did you mean" in line) == ("did you mean" in meant), line


@pytest.mark.parametrize("words", [["run", "--out", "--py", "true"], ["run", "--out", "--", "true"]])
def test_a_forgotten_value_is_not_the_next_option(words, tmp_path):
    done = command(*words, cwd=tmp_path)
    assert done.status == 125 and "--out: its value is missing" in only_line(done)
    assert list(tmp_path.iterdir()) == []


def test_a_value_that_looks_like_an_option_is_given_with_an_equals_sign(tmp_path):
    assert command("run", "-q", "--out=--py", "--", "true", cwd=tmp_path).status == 0
    assert (tmp_path / "--py").is_dir()


def test_bad_depth_in_the_environment(tmp_path):
    run = command("run", "--", "/bin/true", env={"HEAPTIDE_DEPTH": "deep"}, cwd=tmp_path)
    assert run.status == 125 and "HEAPTIDE_DEPTH" in only_line(run)


# --- the program


def test_program_not_found(out):
    run = command("run", "--out", out, "--", "no-such-program")
    assert run.status == 127 and "no-such-program" in only_line(run)
    assert not out.exists(), "no folder for a program that never ran"


def test_program_of_this_folder_without_its_path(tmp_path):
    """Shells find no program of the folder they are in; neither do we, but we say so."""
    shutil.copy("/bin/true", tmp_path / "mine")
    run = command("run", "--", "mine", cwd=tmp_path)
    assert run.status == 127 and only_line(run).endswith("heaptide run ./mine")


@pytest.mark.parametrize(("name", "status"), [("train.py", 127), ("./train.py", 126)])
def test_a_script_in_place_of_its_interpreter(name, status, tmp_path):
    (tmp_path / "train.py").write_text("pass")
    run = command("run", "--", name, cwd=tmp_path)
    assert run.status == status
    assert re.search(rf"; heaptide run --py python3? {re.escape(name)}$", only_line(run))


def test_program_not_executable(out, tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("x")
    run = command("run", "--out", out, "--", plain)
    assert run.status == 126 and "plain" in only_line(run)


def test_program_of_a_foreign_architecture(out, tmp_path, planted):
    """An ELF file whose header says SPARC V9: the kernel refuses it."""
    foreign = tmp_path / "foreign"
    shutil.copy(planted("two_leaks.c"), foreign)
    with open(foreign, "r+b") as file:
        file.seek(18)
        file.write((43).to_bytes(2, "little"))
    run = command("run", "--out", out, "--", foreign)
    assert run.status == 126 and "foreign" in only_line(run)


def test_static_program_runs_untraced_and_says_so(out, planted):
    program = planted("exit_status.c", flags=("-static",))
    run = heaptide_run.traced([program], out=out)
    assert run.status == 42
    assert [line for line in run.own_stderr if "static" in checked(line)], run.describe()


def test_static_child_is_named_in_the_parents_end(out, planted):
    program = planted("exit_status.c", flags=("-static",))
    run = heaptide_run.traced(["/bin/sh", "-c", f"{program}; echo status $?"], out=out)
    assert (run.status, run.stdout) == (0, b"status 42\n")
    assert any(report["main"] for report in run.reports())


def test_setuid_program_runs_untraced_and_says_so(out, tmp_path, planted):
    if os.getuid() != 0:
        pytest.skip("only root can make a program that is setuid to somebody else")
    if os.statvfs(tmp_path).f_flag & os.ST_NOSUID:
        pytest.skip(f"{tmp_path} is mounted nosuid: no program is setuid there")
    program = tmp_path / "setuid"
    shutil.copy(planted("exit_status.c"), program)
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    for folder in [tmp_path, *tmp_path.parents][:-2]:
        folder.chmod(folder.stat().st_mode | 0o055)
    run = heaptide_run.traced([program], out=out)
    assert run.status == 42
    assert [line for line in run.own_stderr if "setuid" in checked(line)], run.describe()


def test_program_under_valgrind_is_refused(out):
    run = command("run", "--out", out, "--", "valgrind", "/bin/true")
    assert run.status == 125 and "Valgrind" in only_line(run)
    assert not out.exists()


def test_static_sanitizer_runs_and_says_so(out):
    program = program_build.build(PLANTED / "exit_status.c", flags=("-fsanitize=address", "-static-libasan"))
    run = heaptide_run.traced([program], out=out, env={"ASAN_OPTIONS": "detect_leaks=0"})
    assert run.status == 42
    assert "static AddressSanitizer" in checked(run.own_stderr[0]), run.describe()


def test_no_rights_to_attach(tmp_path):
    """As somebody else. The process is none the worse for it."""
    if os.getuid() != 0:
        pytest.skip("only root has processes that another user may not attach to")
    if execute(["setpriv", "--reuid", "65534", "--clear-groups", "ls", heaptide_run.COMMAND]).status != 0:
        pytest.skip("this build of heaptide lies in a folder that is closed to others")
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # one that the other user may write into
    folder.chmod(0o777)
    with subprocess.Popen(["/bin/sleep", "600"]) as process:
        asked = ["setpriv", "--reuid", "65534", "--clear-groups", heaptide_run.COMMAND, "attach", process.pid]
        run = execute([*asked, "--out", folder / "report"])
        lives, left = process.poll() is None, os.listdir(folder)
        process.kill()
    folder.rmdir()
    assert run.status == 2 and "sudo" in only_line(run) and lives and left == []


# --- the output folder

UNUSABLE = ["plain/x", "/proc/self/x", "/dev/full", "/dev/null/x", "d" * 300, "plain"]


@pytest.mark.parametrize("place", UNUSABLE, ids=lambda place: place[:20])
def test_folder_cannot_be_made(place, tmp_path):
    (tmp_path / "plain").write_text("a file")
    run = command("run", "--out", place, "--", "/bin/echo", "ran", cwd=tmp_path)
    assert run.status == 125 and run.stdout == b"", "the program must not have started"
    only_line(run)


def test_folder_not_writable(tmp_path, planted):
    if os.getuid() != 0:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o555)
        run = command("run", "--out", closed / "x", "--", "/bin/echo", "ran")
    else:
        mount = read_only_mount(tmp_path)
        with mount as closed:
            run = command("run", "--out", closed / "x", "--", "/bin/echo", "ran")
    assert run.status == 125 and run.stdout == b""
    only_line(run)


@contextlib.contextmanager
def mounted(folder, *options):
    """A tmpfs of its own for a test; the test is skipped where mounting is not allowed."""
    folder.mkdir()
    done = execute(["mount", "-t", "tmpfs", *options, "none", folder])
    if done.status != 0:
        pytest.skip(f"cannot mount a tmpfs here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        execute(["umount", "-l", folder])


def read_only_mount(tmp_path):
    return mounted(tmp_path / "closed", "-o", "ro")


def test_folder_vanishes_during_the_run(out):
    run = heaptide_run.traced(["/bin/sh", "-c", f"rm -rf {out}; echo ran; exit 5"], out=out)
    assert (run.status, run.stdout) == (5, b"ran\n")
    assert len(run.own_stderr) == 1 and checked(run.own_stderr[0])
    assert not out.exists(), "a folder that was taken away is not made again"


def test_folder_becomes_unwritable_during_the_run(tmp_path):
    with mounted(tmp_path / "later", "-o", "size=1m") as place:
        script = f"mount -o remount,ro {place}; echo ran; exit 5"
        run = command("run", "--no-children", "--out", place / "out", "--", "/bin/sh", "-c", script)
    assert (run.status, run.stdout) == (5, b"ran\n"), run.describe()
    assert len(run.own_stderr) == 1 and checked(run.own_stderr[0])


def test_disk_full(tmp_path, planted):
    """64 KiB of room, all but a page of it taken: the report does not fit, the program does not notice."""
    program = planted("exit_status.c")
    with mounted(tmp_path / "small", "-o", "size=64k") as place:
        (place / "filler").write_bytes(b"x" * 65536)
        run = command("run", "--out", place, "--", program)
        left = [path.name for path in place.iterdir()]
    assert run.status in (42, 125), run.describe()
    assert len(run.own_stderr) == 1 and checked(run.own_stderr[0])
    assert left == ["filler"], f"half a report was left: {left}"


def test_disk_full_at_the_end(tmp_path, planted):
    with mounted(tmp_path / "small", "-o", "size=64k") as place:
        script = f"head -c 1000000 /dev/zero > {place}/filler 2>/dev/null; echo ran; exit 7"
        run = command("run", "--no-children", "--out", place / "out", "--", "/bin/sh", "-c", script)
        left = [path.name for path in (place / "out").glob("*")]
    assert (run.status, run.stdout) == (7, b"ran\n"), run.describe()
    assert len(run.own_stderr) == 1 and checked(run.own_stderr[0])
    assert left == [], f"half a report was left: {left}"


def test_file_size_limit_raises_no_signal(out, planted):
    run = execute(
        ["/bin/sh", "-c", f"ulimit -f 0; exec {heaptide_run.COMMAND} run --out {out} -- {planted('exit_status.c')}"]
    )
    assert run.status == 42, run.describe()


# --- the report's files


def report_file(folder):
    (path,) = folder.glob("*.bin")
    return path


def folder_with(tmp_path, data, name="heaptide.1.bin"):
    place = tmp_path / "given"
    place.mkdir(exist_ok=True)
    (place / name).write_bytes(data)
    return place


@pytest.mark.parametrize("kept", [0, 1, 7, 8, 31, 32, 63, 64, 100, 0.3, 0.5, 0.9, -1])
def test_truncated_file(kept, folder, tmp_path):
    data = report_file(folder).read_bytes()
    size = int(len(data) * kept) if isinstance(kept, float) else kept
    given = folder_with(tmp_path, data[:size])
    for options in ([], ["--json"], ["--folded", "live"]):
        done = command("report", given, *options, timeout=20)
        assert done.status == 2, done.describe()
        assert "heaptide.1.bin" in only_line(done)


def test_file_of_something_else(tmp_path):
    for data in (b"hello\n", b"\x7fELF" + bytes(1000), b"HEAPTIDE", b"HEAPTIDE" + b"\xff" * 5000):
        done = command("report", folder_with(tmp_path, data))
        assert done.status == 2, done.describe()
        only_line(done)


def test_every_damaged_byte_is_noticed(folder, tmp_path):
    """A changed byte anywhere: the file is refused; never a crash, never other figures."""
    data = report_file(folder).read_bytes()
    whole = command("report", folder_with(tmp_path, data), "--json").stdout
    step = max(1, len(data) // 150)
    for place in [*range(0, 64), *range(64, len(data), step)]:
        damaged = bytearray(data)
        damaged[place] ^= 0x55
        done = command("report", folder_with(tmp_path, bytes(damaged)), "--json", timeout=20)
        if done.status == 1:  # a byte between two sections, which belongs to neither
            assert done.stdout == whole, f"byte {place} of {len(data)} changed the report"
            continue
        assert done.status == 2, f"byte {place} of {len(data)} changed: status {done.status}, {done.stderr}"
        only_line(done)


def test_two_files_glued(folder, tmp_path):
    data = report_file(folder).read_bytes()
    done = command("report", folder_with(tmp_path, data + data))
    assert done.status == 2
    only_line(done)


def test_good_files_beside_a_damaged_one_are_shown(folder, tmp_path):
    data = report_file(folder).read_bytes()
    given = folder_with(tmp_path, data, "heaptide.1.bin")
    folder_with(tmp_path, data[: len(data) // 2], "heaptide.2.bin")
    done = command("report", given, "--json")
    assert done.status == 2 and "heaptide.2.bin" in only_line(done)
    assert done.stdout.count(b"\n") == 1 and b'"schema"' in done.stdout


def test_newer_version_is_named(folder, tmp_path):
    """The version is at byte 8, the header's checksum at byte 24 and covers the header, with itself as 0, and the
    section table behind it."""
    data = bytearray(report_file(folder).read_bytes())
    sections = int.from_bytes(data[12:16], "little")
    data[8:12] = (int.from_bytes(data[8:12], "little") + 1).to_bytes(4, "little")
    data[24:28] = bytes(4)
    data[24:28] = zlib.crc32(data[: 32 + sections * 40]).to_bytes(4, "little")
    done = command("report", folder_with(tmp_path, bytes(data)))
    assert done.status == 2 and "written by a newer heaptide" in only_line(done)


def test_unfinished_file_is_ignored(folder, tmp_path):
    """What a writer has not renamed yet is no report."""
    data = report_file(folder).read_bytes()
    given = folder_with(tmp_path, data)
    before = command("report", given, "--json").stdout
    for name in ("heaptide.2.bin.tmp", ".heaptide.2.bin.tmp", "notes.txt"):
        (given / name).write_bytes(data[:100])
    done = command("report", given, "--json")
    assert done.stdout == before and done.status == 1 and done.stderr == ""


def test_folder_without_reports(tmp_path):
    done = command("report", tmp_path)
    assert done.status == 2 and str(tmp_path) in only_line(done)


def test_folder_that_is_none(tmp_path):
    done = command("report", tmp_path / "none")
    assert done.status == 2 and "none" in only_line(done)


def test_file_that_cannot_be_read(folder, tmp_path):
    given = folder_with(tmp_path, b"")
    (given / "heaptide.1.bin").unlink()
    (given / "heaptide.1.bin").mkdir()
    done = command("report", given)
    assert done.status == 2
    only_line(done)


def test_full_output_is_an_error(folder):
    """A report that could not be written to the end must not look like a clean one."""
    with open("/dev/full", "wb") as full:
        done = execute([heaptide_run.COMMAND, "report", folder, "--fail-on", "none"], stdout=full)
    assert done.status == 2
    only_line(done)


def test_reader_that_leaves_early(folder):
    done = subprocess.run(
        ["/bin/bash", "-c", f"{heaptide_run.COMMAND} report {folder} --json | head -c 10; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        timeout=30,
    )
    assert done.stderr == b"", done.stderr


# --- symbolizers


def functions_and_lines(folder, **environment):
    done = command("report", folder, "--json", env=environment)
    assert done.status == 1, done.describe()
    report = json.loads(done.stdout)
    return done, {row["site"]["function"]: row["site"]["line"] for row in report["leaks"]}


def test_broken_symbolizer_falls_back(folder, tmp_path):
    whole = functions_and_lines(folder)[1]
    assert None not in whole.values()
    for broken in ("/bin/false", "/nonexistent/symbolizer", "/bin/cat"):
        done, found = functions_and_lines(folder, HEAPTIDE_SYMBOLIZER=broken)
        assert found == whole, broken
        assert "HEAPTIDE_SYMBOLIZER" in only_line(done)


def test_hanging_symbolizer_falls_back(folder, tmp_path):
    hanging = tmp_path / "hanging"
    hanging.write_text("#!/bin/sh\nexec sleep 1000\n")
    hanging.chmod(0o755)
    done = command("report", folder, "--json", env={"HEAPTIDE_SYMBOLIZER": hanging}, timeout=60)
    assert done.status == 1, done.describe()
    assert any("HEAPTIDE_SYMBOLIZER" in line for line in done.stderr.splitlines())


def test_named_symbolizer_is_used(folder, tmp_path):
    real = shutil.which("llvm-symbolizer") or shutil.which("llvm-symbolizer-14")
    mark = tmp_path / "used"
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\ntouch {mark}\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    done, found = functions_and_lines(folder, HEAPTIDE_SYMBOLIZER=str(wrapper))
    assert mark.exists() and set(found) == {"lose_alpha", "lose_beta", "lose_gamma"} and done.stderr == ""


def test_without_any_symbolizer_names_come_from_symbol_tables(folder, tmp_path):
    done, found = functions_and_lines(folder, PATH=str(tmp_path), HEAPTIDE_SYMBOLIZER=None)
    assert set(found) == {"lose_alpha", "lose_beta", "lose_gamma"}
    assert "symbolizer" in only_line(done), "the missing symbolizer is named, with the way to get it"


def test_unreachable_debuginfod_does_not_hang(folder):
    done = command("report", folder, env={"DEBUGINFOD_URLS": "http://10.255.255.1"}, timeout=30)
    assert done.status == 1


def test_program_that_is_gone_at_report_time(tmp_path, planted, out):
    copy = tmp_path / "copy"
    shutil.copy(planted("two_leaks.c"), copy)
    heaptide_run.traced([copy], out=out, options=["-q"])
    copy.unlink()
    done = command("report", out, "--json")
    assert done.status == 1, done.describe()
    report = json.loads(done.stdout)
    assert report["summary"]["leaked_direct_bytes"] == 1100
    frame = report["leaks"][0]["stack"][0]
    assert frame["function"] is None or frame["function"].startswith("["), frame
    assert Path(frame["module"]).name == "copy" and frame["offset"] > 0


def test_program_that_was_rebuilt_gives_no_wrong_names(tmp_path, planted, out):
    """Another program lies at the same path when the report is read: its build-id differs, its names are not used."""
    copy = tmp_path / "copy"
    shutil.copy(planted("two_leaks.c"), copy)
    heaptide_run.traced([copy], out=out, options=["-q"])
    copy.unlink()
    shutil.copy(planted("indirect_tree.c"), copy)
    report = heaptide_run.read_reports(out)[0]
    names = {frame["function"] for row in report["leaks"] for frame in row["stack"]}
    assert not names & {"tree_lose", "tree_grow", "stack_scrub"}, names
