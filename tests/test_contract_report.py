"""`heaptide report` and the small commands: options, outputs, exit statuses."""

import json
import os
import pty
import re
import subprocess
import time
from pathlib import Path

import pytest

import heaptide_run
import program_build
from conftest import CASES, PLANTED
from heaptide_run import command
from report_schema import schema_problems, total_problems


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The reports of one run of two_leaks."""
    return recorded(tmp_path_factory, "two_leaks.c")


@pytest.fixture(scope="module")
def clean_folder(tmp_path_factory):
    return recorded(tmp_path_factory, "sizes.c")


@pytest.fixture(scope="module")
def family_folder(tmp_path_factory):
    """The reports of a program and its forked child."""
    return recorded(tmp_path_factory, "fork_inherited.c")


def recorded(tmp_path_factory, name):
    out = tmp_path_factory.mktemp("reports") / "out"
    run = heaptide_run.traced([program_build.build(PLANTED / name)], out=out, options=["-q"])
    assert run.status == 0, run.describe()
    return out


def report_json(folder, *options):
    return heaptide_run.read_reports(folder, *options)


def one_line_of_error(run):
    lines = run.stderr.splitlines()
    assert len(lines) == 1 and re.fullmatch(r"heaptide: .+: .+; .+", lines[0]), run.describe()
    return lines[0]


# --- which folder


def test_newest_folder_is_taken(planted, tmp_path):
    for name in ("heaptide.old.1", "heaptide.new.2"):
        heaptide_run.traced([planted("two_leaks.c")], out=tmp_path / name, options=["-q"])
        time.sleep(0.05)
    (tmp_path / "other").mkdir()
    done = command("report", "--json", cwd=tmp_path)
    assert done.status == 1 and "heaptide.new.2" in done.stderr and "heaptide.old.1" not in done.stderr
    assert json.loads(done.stdout)["main"]


def test_no_folder_at_all(tmp_path):
    done = command("report", cwd=tmp_path)
    assert done.status == 2 and done.stdout == b""
    one_line_of_error(done)


def test_named_folder_is_not_announced(folder):
    assert command("report", folder).stderr == ""


# --- exit statuses


@pytest.mark.parametrize(("fail_on", "status"), [(None, 1), ("any", 1), ("leaks", 1), ("growth", 0), ("none", 0)])
def test_fail_on(fail_on, status, folder):
    options = ["--fail-on", fail_on] if fail_on else []
    assert command("report", folder, *options).status == status
    assert command("report", folder, "--json", *options).status == status


@pytest.mark.parametrize("fail_on", ["any", "leaks", "growth", "none"])
def test_clean_program_never_fails(fail_on, clean_folder):
    assert command("report", clean_folder, "--fail-on", fail_on).status == 0


# --- JSON


def test_json_is_one_object_a_line(family_folder):
    done = command("report", family_folder, "--json")
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(reports) == 2 and done.stdout.endswith(b"\n") and done.stderr == ""
    for report in reports:
        assert schema_problems(report) == []


def test_json_sums(family_folder):
    for report in report_json(family_folder, *heaptide_run.EVERY_ROW):
        assert total_problems(report) == []


def test_forked_child_belongs_to_its_parent(family_folder):
    reports = report_json(family_folder)
    main, child = sorted(reports, key=lambda report: not report["main"])
    assert main["main"] and not child["main"] and child["ppid"] == main["pid"] and child["pid"] != main["pid"]


def test_pid_chooses_a_process(family_folder):
    for report in report_json(family_folder):
        chosen = report_json(family_folder, "--pid", str(report["pid"]))
        assert [one["pid"] for one in chosen] == [report["pid"]]


def test_unknown_pid(folder):
    done = command("report", folder, "--pid", "1")
    assert done.status == 2
    one_line_of_error(done)


def test_top_cuts_lists_but_not_leaks(tmp_path, planted):
    out = tmp_path / "out"
    heaptide_run.traced([planted("two_leaks.c")], out=out, options=["-q"])
    cut, whole = report_json(out, "--top", "1")[0], report_json(out, *heaptide_run.EVERY_ROW)[0]
    assert len(cut["leaks"]) == len(whole["leaks"]) > 1
    for section in ("peak", "hotspots"):
        assert len(cut[section]) == 1 < len(whole[section])
        assert cut[section][0] == whole[section][0]


def test_top_default_is_ten(planted, out):
    """stacks.c of the cases has more than ten sites."""
    program = planted(CASES / "stacks.c", flags=("-pthread",))
    report = heaptide_run.traced([program], out=out, options=["-q"]).report()
    assert len(report["peak"]) == 10 and len(report["hotspots"]) == 10


def test_lists_are_sorted_largest_first(folder):
    report = report_json(folder, *heaptide_run.EVERY_ROW)[0]
    for section, key in (("peak", "bytes"), ("hotspots", "allocations"), ("temporaries", "temporaries")):
        values = [row[key] for row in report[section]]
        assert values == sorted(values, reverse=True)
    leaked = [row["direct_bytes"] + row["indirect_bytes"] for row in report["leaks"]]
    assert leaked == sorted(leaked, reverse=True)


# --- folded stacks

FOLDED_TOTALS = {
    "leaked": lambda summary: summary["leaked_direct_bytes"] + summary["leaked_indirect_bytes"],
    "live": lambda summary: summary["live_bytes"],
    "peak": lambda summary: summary["peak_bytes"],
    "allocated": lambda summary: sum(kind["allocated_bytes"] for kind in summary["by_kind"].values()),
    "temporaries": lambda summary: summary["temporaries"],
}


@pytest.mark.parametrize("what", FOLDED_TOTALS)
@pytest.mark.parametrize("program", ["two_leaks.c", "temporaries.c"])
def test_folded(what, program, tmp_path_factory):
    folder = recorded(tmp_path_factory, program)
    done = command("report", folder, "--folded", what, "--fail-on", "none")
    assert done.status == 0, done.describe()
    total = 0
    for line in done.stdout.decode().splitlines():
        stack, value = line.rsplit(" ", 1)
        frames = stack.split(";")
        assert "main" in [re.sub(r"\(.*", "", frame) for frame in frames] and int(value) > 0, line
        total += int(value)
    assert total == FOLDED_TOTALS[what](report_json(folder)[0]["summary"])


def test_folded_is_outermost_first(folder):
    lines = command("report", folder, "--folded", "leaked").stdout.decode().splitlines()
    alpha = next(line for line in lines if "lose_alpha" in line)
    assert alpha.index("main") < alpha.index("work") < alpha.index("lose_alpha") and alpha.endswith(" 1000")


# --- suppressions


def suppressed(folder, tmp_path, *texts, options=()):
    """The functions of the leaks that are suppressed by files with these texts."""
    files = []
    for number, text in enumerate(texts):
        path = tmp_path / f"supp{number}"
        path.write_text(text)
        files += ["--supp", path]
    report = report_json(folder, *files, *options)[0]
    return {row["site"]["function"] for row in report["leaks"] if row["suppressed"]}


ALL = {"lose_alpha", "lose_beta", "lose_gamma"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("leak:lose_alpha", {"lose_alpha"}),
        ("leak:alpha", {"lose_alpha"}),
        ("alpha", {"lose_alpha"}),
        ("leak:lose_*a\n", ALL),
        ("leak:^lose_al*$", {"lose_alpha"}),
        ("leak:^alpha", set()),
        ("leak:lose$", set()),
        ("leak:^lose", ALL),
        ("leak:work", ALL),
        ("leak:two_leaks.c", ALL),
        ("leak:/two_leaks$", ALL),
        ("leak:LOSE_ALPHA", set()),
        ("leak:lo*al*ha", {"lose_alpha"}),
        ("# leak:lose_alpha\n\nleak:lose_gamma\n# end", {"lose_gamma"}),
        ("leak:lose_alpha\r\nleak:lose_gamma\r\n", {"lose_alpha", "lose_gamma"}),
        ("leak:nothing_here", set()),
        ("", set()),
    ],
)
def test_suppression(text, wanted, folder, tmp_path):
    assert suppressed(folder, tmp_path, text) == wanted


def test_suppression_files_add_up(folder, tmp_path):
    assert suppressed(folder, tmp_path, "leak:lose_alpha", "leak:lose_gamma") == {"lose_alpha", "lose_gamma"}


def test_suppressed_leaks_leave_the_summary_and_the_verdict(folder, tmp_path):
    path = tmp_path / "supp"
    path.write_text("leak:lose_alpha\n")
    summary = report_json(folder, "--supp", path)[0]["summary"]
    assert (summary["leaked_direct_bytes"], summary["leaked_indirect_bytes"], summary["leaked_blocks"]) == (100, 30, 3)
    assert command("report", folder, "--supp", path).status == 1
    path.write_text("leak:lose_*\n")
    assert command("report", folder, "--supp", path).status == 0


def test_missing_suppression_file(folder, tmp_path):
    done = command("report", folder, "--supp", tmp_path / "none")
    assert done.status == 2 and "none" in one_line_of_error(done)


def test_print_suppressions_can_be_read_again(folder, tmp_path):
    done = command("report", folder, "--print-suppressions", "--fail-on", "none")
    assert done.status == 0, done.describe()
    lines = [line for line in done.stdout.decode().splitlines() if line and not line.startswith("#")]
    assert lines and all(line.startswith("leak:") for line in lines), done.stdout
    path = tmp_path / "again"
    path.write_bytes(done.stdout)
    assert command("report", folder, "--supp", path).status in (0, 1)


# --- colour and text


def on_a_terminal(argv, environment):
    """A command's output when stdout and stderr are a terminal."""
    master, slave = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(argv, stdout=slave, stderr=slave, stdin=slave, env={**inherited, **environment})
    os.close(slave)
    output = b""
    try:
        while chunk := os.read(master, 65536):
            output += chunk
    except OSError:  # EIO: the other end closed
        pass
    os.close(master)
    process.wait(30)
    return output


def test_colour_only_on_a_terminal(folder):
    argv = [os.fspath(heaptide_run.COMMAND), "report", os.fspath(folder)]
    environment = {"TERM": "xterm-256color"}
    assert b"\x1b[" in on_a_terminal(argv, environment)
    assert b"\x1b[" not in on_a_terminal(argv, {**environment, "NO_COLOR": "1"})
    assert b"\x1b[" not in on_a_terminal([*argv, "--no-color"], environment)
    assert b"\x1b[" not in command("report", folder).stdout


def test_text_sections(folder):
    text = command("report", folder).stdout.decode()
    order = [text.index(word) for word in ("LEAKS", "GROWTH", "PEAK", "HOTSPOTS", "TEMPORARIES", "SIZES", "SUMMARY")]
    assert order == sorted(order), text
    for words in ("two_leaks.c:14", "lose_alpha", "held by"):
        assert words in text, f"no {words!r} in\n{text}"


def test_a_wrapper_that_became_the_program_is_one_line(out):
    """The first thing to be read is the program, not what env or a version manager's shim was before it."""
    run = heaptide_run.traced(["/usr/bin/env", "/bin/sh", "-c", "exec /bin/true"], out=out, options=["-q"])
    reports = run.reports()
    assert [(Path(report["exe"]).name, report["quiet"], report["main"]) for report in reports][:2] == [
        ("env", True, True),
        (Path("/bin/sh").resolve().name, True, True),
    ]
    assert not reports[-1]["quiet"]
    text = command("report", out).stdout.decode()
    assert text.startswith("true ") and len([line for line in text.splitlines() if "QUIET" in line]) == 2, text


def test_quiet_helpers_are_one_line(out):
    run = heaptide_run.traced(["/bin/sh", "-c", "/bin/true; exit 0"], out=out, options=["-q"])
    reports = {Path(report["exe"]).name: report for report in run.reports()}
    assert reports["true"]["quiet"] and not reports["true"]["main"]
    assert not [report for report in run.reports() if report["main"] and report["quiet"]]
    text = command("report", out).stdout.decode()
    assert len([line for line in text.splitlines() if "QUIET" in line]) == 1, text


# --- the small commands


def test_version():
    done = command("--version")
    assert done.status == 0 and re.fullmatch(rb"heaptide \d+\.\d+(\.\d+)?\S*\n", done.stdout)


@pytest.mark.parametrize("words", [["help"], ["-h"], ["--help"], ["run", "-h"], ["help", "run"], ["help", "report"]])
def test_help(words):
    done = command(*words)
    assert done.status == 0 and b"heaptide" in done.stdout and done.stderr == ""


def test_help_names_every_option():
    run_help = command("help", "run").stdout.decode()
    for option in ("--py", "--py-depth", "--per-thread", "--every", "--no-children", "--only", "--depth", "--out",
                   "--overwrite", "--fail-on", "--sample", "-q"):  # fmt: skip
        assert option in run_help, option
    report_help = command("help", "report").stdout.decode()
    for option in ("--json", "--top", "--supp", "--print-suppressions", "--no-builtin-suppressions", "--fail-on",
                   "--growth-limit", "--folded", "--pid", "--no-color"):  # fmt: skip
        assert option in report_help, option


def test_no_command_points_to_the_help():
    done = command()
    assert done.status == 2 and "heaptide help" in done.stderr


def test_command_starts_quickly():
    """20 ms is promised on an idle machine; five times that on a busy one."""
    best = min(command("--version").seconds for _ in range(10))
    assert best < 0.1


def test_text_tells_calls_on_one_line_apart(tmp_path, planted):
    """Only where the column is what makes the difference, it is shown."""
    out = tmp_path / "out"
    heaptide_run.traced([planted("two_leaks.c")], out=out, options=["-q"])
    text = command("report", out).stdout.decode()
    leaks = text[text.index("LEAKS") : text.index("GROWTH")]
    sites = re.findall(r"^ +(\w+)  \S*?two_leaks\.c(:\d+)(:\d+)?$", leaks, re.MULTILINE)
    assert len({column for function, _, column in sites if function == "lose_beta" and column}) >= 2, leaks
    assert all(not column for function, _, column in sites if function == "lose_alpha"), leaks
