"""`heaptide diff`: what changed from one build to the next, each change once."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import heaptide_run
import program_build
from heaptide_run import command
from report_files import Report
from report_schema import CHANGE, diff_problems

SERVICE = Path(__file__).parent / "diff" / "service.c"
KIB = 1024
# function: (change, figure, bytes in BASE, bytes in NEW)
CHANGES = {
    "leak_comes": ("new", "leaked", 0, 500),
    "leak_goes": ("gone", "leaked", 3000, 0),
    "leak_grows": ("grown", "leaked", 100 * KIB, 300 * KIB),
    "held_comes": ("new", "live", 0, 700),
    "held_grows": ("grown", "live", 200 * KIB, 400 * KIB),
    "held_shrinks": ("shrunk", "live", 500 * KIB, 300 * KIB),
    "peak_grows": ("grown", "peak", 100 * KIB, 300 * KIB),
    "peak_comes": ("new", "peak", 0, 200 * KIB),
}


def recorded(tmp_path_factory, *flags, optimized="-O0", source=SERVICE):
    """The report folder of one run of a build with these flags."""
    out = tmp_path_factory.mktemp("reports") / "out"
    program = program_build.build(source, flags=[optimized, *flags])
    run = heaptide_run.traced([program], out=out, options=["-q"])
    assert run.status == 0, run.describe()
    return out


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return recorded(tmp_path_factory)


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    return recorded(tmp_path_factory, "-DCHANGED", "-DMOVED")


def compared(old, new, *options):
    """The objects of `heaptide diff --json`, each checked against the schema."""
    done = command("diff", old, new, "--json", *options)
    assert done.status in (0, 1) and done.stderr == "", done.describe()
    pairs = [json.loads(line, object_pairs_hook=object_once) for line in done.stdout.splitlines()]
    assert [diff_problems(pair) for pair in pairs] == [[]] * len(pairs)
    return pairs


def object_once(items):
    """A JSON object in which no key stands twice."""
    assert len(dict(items)) == len(items), f"a key twice: {items}"
    return dict(items)


def planted_function(change):
    """The planted function of a site: the innermost frame that is no helper of the program."""
    return next(frame["function"] for frame in change["stack"] if frame["function"] not in ("filled", "malloc"))


def test_each_planted_change_is_named_once(base, changed):
    (pair,) = compared(base, changed)
    found = [
        (
            planted_function(change),
            (
                change["change"],
                change["figure"],
                change["base"][change["figure"] + "_bytes"],
                change["new"][change["figure"] + "_bytes"],
            ),
        )
        for change in pair["changes"]
    ]
    assert len(found) == len(CHANGES) and dict(found) == CHANGES
    assert [pair["counts"][word] for word in CHANGE] == [3, 3, 1, 1]
    assert pair["small"] == {"sites": 2, "live_bytes": 550 * KIB} and pair["notes"] == []


def test_the_way_back_is_the_mirror(base, changed):
    (pair,) = compared(changed, base)
    mirror = {"new": "gone", "gone": "new", "grown": "shrunk", "shrunk": "grown"}
    found = {planted_function(change): (change["change"], change["figure"]) for change in pair["changes"]}
    assert found == {name: (mirror[change], figure) for name, (change, figure, _, _) in CHANGES.items()}


def test_moved_code_is_no_change(tmp_path_factory, base):
    (pair,) = compared(base, recorded(tmp_path_factory, "-DMOVED"))
    assert pair["changes"] == [] and pair["small"]["sites"] == 0
    done = command("diff", base, recorded(tmp_path_factory, "-DMOVED"))
    assert done.status == 0 and b"no site has changed" in done.stdout


def test_a_recursion_that_goes_deeper_is_no_change(tmp_path_factory, base):
    (pair,) = compared(base, recorded(tmp_path_factory, "-DRECURSES"))
    assert pair["changes"] == []


@pytest.mark.parametrize(
    ("fail_on", "status"), [((), 1), (("--fail-on", "new"), 1), (("--fail-on", "grown"), 1), (("--fail-on", "none"), 0)]
)
def test_statuses_of_a_new_leak(base, changed, fail_on, status):
    assert command("diff", base, changed, *fail_on).status == status


@pytest.mark.parametrize(("fail_on", "status"), [("new", 0), ("grown", 1), ("none", 0)])
def test_statuses_of_what_only_grew(tmp_path, fail_on, status):
    folders = [tmp_path / "base", tmp_path / "new"]
    for folder, kib in zip(folders, (100, 300)):
        report_folder(folder, held_report(kib * KIB))
    assert command("diff", *folders, "--fail-on", fail_on).status == status


@pytest.mark.parametrize(("peak", "status"), [(200 * KIB, 0), (210 * KIB, 0), (300 * KIB, 1)])
def test_other_holders_of_a_peak_fail_only_where_it_rose(tmp_path, peak, status):
    def holding(function, peak):
        report = Report(peak=peak)
        report.site(report.stack(("jit", function, 1)), calls=(1, 0, 0, peak), peak=(peak, 1))
        return report

    old = report_folder(tmp_path / "base", holding("before", 200 * KIB))
    new = report_folder(tmp_path / "new", holding("after", peak))
    assert [change["change"] for change in compared(old, new)[0]["changes"]] == ["new", "gone"]
    assert command("diff", old, new).status == command("diff", old, new, "--fail-on", "grown").status == status


def test_text_names_functions_and_bytes(base, changed):
    text = command("diff", base, changed).stdout.decode()
    sections = [line.split()[0] for line in text.splitlines() if line and not line.startswith(" ")]
    assert sections == ["NEW", "GROWN", "GONE", "SHRUNK", "SUMMARY"]
    assert "+500 B  leaked in 1 block of heap" in text
    assert "+200 KiB  live, 200 KiB -> 400 KiB of heap" in text
    assert "2 sites changed by 64 KiB or less" in text


def test_top_cuts_the_text_only(base, changed):
    text = command("diff", base, changed, "--top", "1").stdout.decode()
    assert text.count("... 2 more sites (--top)") == 2 and "held_comes" not in text
    assert len(compared(base, changed, "--top", "1")[0]["changes"]) == len(CHANGES)


def test_stripped_programs_are_warned_about(tmp_path_factory, tmp_path):
    """A stripped program's functions have no names: another build of it cannot be matched by them."""
    folders = []
    for name, flags in (("base", []), ("new", ["-DMOVED"])):
        (tmp_path / name).mkdir()
        program = shutil.copy(program_build.build(SERVICE, flags=flags), tmp_path / name / "service")
        subprocess.run(["strip", program], check=True)
        folders.append(tmp_path / name / "out")
        assert heaptide_run.traced([program], out=folders[-1], options=["-q"]).status == 0
    (pair,) = compared(*folders)
    assert [note.split(" have ")[1][:23] for note in pair["notes"]] == ["functions without names"] * 2
    (same,) = compared(folders[0], folders[0])
    assert same["notes"] == [] and same["changes"] == []


# --- made-up reports: pairs of processes


def held_report(held, **process):
    report = Report(live=held, peak=held, **process)
    report.site(report.stack(("jit", "keep", 1)), calls=(1, 0, 0, held), live=(held, 1), peak=(held, 1))
    return report


def report_folder(folder, *reports):
    folder.mkdir()
    for number, report in enumerate(reports, 1):
        (folder / f"heaptide.{number}.bin").write_bytes(report.data())
    return folder


def pids_of(pairs):
    return [tuple(pair[side] and pair[side]["pid"] for side in ("base", "new")) for pair in pairs]


def test_processes_are_matched_by_program_and_rank(tmp_path):
    def worker(pid, rank, **more):
        return held_report(10, pid=pid, rank=rank, argv=["python", "train.py"], flags=16, **more)

    main = {"argv": ["torchrun"], "flags": 17}
    old = report_folder(tmp_path / "base", held_report(10, pid=1, **main), *(worker(10 + i, i) for i in range(3)))
    new = report_folder(tmp_path / "new", held_report(10, pid=2, **main), *(worker(29 - i, i) for i in range(3)))
    assert pids_of(compared(old, new))[0] == (1, 2)
    assert sorted(pids_of(compared(old, new))[1:]) == [(10, 29), (11, 28), (12, 27)]


def test_a_renamed_program_is_still_the_main_one(tmp_path):
    old = report_folder(tmp_path / "base", held_report(10, pid=1, argv=["./server-1.0"]))
    new = report_folder(tmp_path / "new", held_report(10, pid=2, argv=["./server-1.1"]))
    assert pids_of(compared(old, new)) == [(1, 2)]


def test_processes_without_a_partner(tmp_path):
    main = {"argv": ["./server"], "flags": 17}
    helper = held_report(10, pid=5, argv=["./helper"], flags=16)
    old = report_folder(tmp_path / "base", held_report(10, pid=1, **main), helper)
    new = report_folder(tmp_path / "new", held_report(10, pid=2, **main))
    gone, came = compared(old, new), compared(new, old)
    assert pids_of(gone) == [(1, 2), (5, None)] and pids_of(came) == [(2, 1), (None, 5)]
    assert [change["change"] for change in gone[1]["changes"]] == ["gone"]
    assert [change["change"] for change in came[1]["changes"]] == ["new"]
    assert command("diff", old, new).status == 0 and command("diff", new, old).status == 1


def test_snapshots_of_one_process_are_matched_by_it(tmp_path):
    """Two workers of one name, told apart by being the same process in both snapshots."""
    workers = [{"pid": pid, "argv": ["./worker"], "flags": 16, "started": 10**18 + pid} for pid in (7, 8)]
    before = report_folder(tmp_path / "before", *(held_report(10, label="before", **worker) for worker in workers))
    after = report_folder(tmp_path / "after", held_report(10**6, label="after", **workers[1]))
    pairs = compared(before, after)
    assert pids_of(pairs) == [(8, 8), (7, None)]
    assert [change["change"] for change in pairs[0]["changes"]] == ["grown"] and pairs[0]["new"]["label"] == "after"


def test_leaks_are_compared_only_where_both_were_searched(tmp_path):
    def leaking(flags):
        report = held_report(0, flags=flags)
        site = report.site(report.stack(("jit", "lose", 2)), calls=(1, 0, 0, 10), live=(10, 1), peak=(10, 1))
        if flags & 16:
            report.leak(site, direct=(10, 1))
        return report

    (pair,) = compared(report_folder(tmp_path / "a", leaking(1)), report_folder(tmp_path / "b", leaking(17)))
    assert pair["changes"] == [] and pair["notes"] == ["Only NEW was searched for leaks: what leaked is not compared."]


def test_suppressed_leaks_are_no_change(base, changed, tmp_path):
    rules = tmp_path / "rules.supp"
    rules.write_text("leak:leak_comes\n")
    (pair,) = compared(base, changed, "--supp", rules)
    (change,) = [change for change in pair["changes"] if planted_function(change) == "leak_comes"]
    assert (change["figure"], change["new"]["leaked_bytes"]) == ("live", 0)


def test_small_python_sites_are_no_change(tmp_path):
    def python(**objects):
        report = Report()
        for name, size in objects.items():
            report.site(report.stack(("python", name, "/x.py", 3)), kind="python", calls=(1, 0, 0, size),
                        live=(size, 1), peak=(size, 1))  # fmt: skip
        return report

    old = report_folder(tmp_path / "base", python(kept=1000))
    new = report_folder(tmp_path / "new", python(kept=2000, cached=500, loaded=100_000))
    (pair,) = compared(old, new)
    assert [(change["site"]["function"], change["change"]) for change in pair["changes"]] == [("loaded", "new")]
    assert pair["small"] == {"sites": 2, "live_bytes": 1500}


# --- bad input


@pytest.mark.parametrize("words", [[], ["one"], ["one", "two", "three"], ["missing", "missing"]])
def test_bad_operands(words, tmp_path):
    done = command("diff", *words, cwd=tmp_path)
    assert done.status == 2 and done.stdout == b"" and len(done.stderr.splitlines()) == 1, done.describe()


def test_a_damaged_file_is_an_error(base, tmp_path):
    damaged = tmp_path / "damaged"
    shutil.copytree(base, damaged)
    (damaged / "heaptide.99999.bin").write_bytes(b"HEAPTIDE")
    assert command("diff", base, damaged).status == 2
