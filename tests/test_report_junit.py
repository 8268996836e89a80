"""`heaptide report --junit FILE`, read by junitparser, which nobody here wrote."""

import junitparser
import pytest

from heaptide_run import command, read_reports
from report_files import Report, demo_folder, folder_of, make_report


def junit_of(folder, *options, status=1):
    out = folder.parent / "junit.xml"
    done = command("report", folder, "--junit", out, *options)
    assert done.status == status and done.stderr == "", done.describe()
    suites = junitparser.JUnitXml.fromfile(str(out))
    cases = [case for suite in suites for case in suite]
    # What the heads say in all is what stands below them.
    assert suites.tests == len(cases) == sum(suite.tests for suite in suites)
    assert suites.failures == len(failures(cases)) == sum(suite.failures for suite in suites)
    assert suites.skipped == sum(case.is_skipped for case in cases)
    assert len({(case.classname, case.name) for case in cases}) == len(cases)
    return suites, cases


def failures(cases):
    return {case.name: case.result[0] for case in cases if case.is_failure}


def test_each_leaking_site_is_a_failure(tmp_path):
    suites, cases = junit_of(demo_folder(tmp_path))
    found = failures(cases)
    assert set(found) == {"leak at [jit handle] < main demo.py:40", "leak at [demo+0x1234] < main demo.py:40"}
    leak = found["leak at [jit handle] < main demo.py:40"]
    assert leak.message == "leaked 12.5 KiB directly and 0 B indirectly in 100 blocks of heap" and leak.type == "leak"
    assert leak.text.split("\n")[:2] == ["[jit handle]", "main demo.py:40"]
    (suite,) = suites
    assert (suite.name, suite.time) == ("heaptide: demo, pid 100", 2.0)


def test_what_is_not_gated_is_skipped(tmp_path):
    _, cases = junit_of(demo_folder(tmp_path), "--fail-on", "growth", status=0)
    assert failures(cases) == {} and [case.is_skipped for case in cases] == [True, True, False, True]


def test_suppressed_leaks_are_skipped(tmp_path):
    rules = tmp_path / "rules.supp"
    rules.write_text("leak:handle\n")
    _, cases = junit_of(demo_folder(tmp_path), "--supp", rules)
    assert set(failures(cases)) == {"leak at [demo+0x1234] < main demo.py:40"}
    (skipped,) = [case.result[0].message for case in cases if case.name.startswith("leak at [jit")]
    assert skipped == "suppressed"


def test_growth_is_a_failure(tmp_path):
    report = Report()
    for i in range(20):
        report.sample(i * 100_000_000, heap=i << 15)
    folder = folder_of(tmp_path, report.data())
    _, cases = junit_of(folder)
    (shown,) = read_reports(folder)
    assert {name: result.message for name, result in failures(cases).items()} == {
        "no growth": shown["growth"]["cpu"]["why"]
    }


def test_a_clean_program_passes(tmp_path):
    _, cases = junit_of(folder_of(tmp_path, Report().data()), status=0)
    assert [case.name for case in cases if case.is_passed] == ["no leaks"]


def test_several_processes_are_suites(tmp_path):
    reports = [make_report.Report(pid=pid, argv=[name], exe=f"/opt/{name}") for pid, name in ((1, "a"), (2, "b"))]
    suites, _ = junit_of(folder_of(tmp_path, *(report.data() for report in reports)), status=0)
    assert [suite.name for suite in suites] == ["heaptide: a, pid 1", "heaptide: b, pid 2"]


def test_awkward_names_are_good_xml(tmp_path):
    report = Report(argv=[b"<&\"'>\x01\xff"], exe=b"/opt/<&\"'>\x01\xff")
    for number, name in enumerate(["<script>&amp;", 'a"b', b"\xff\xfe", "bell\x07", "x\ufffe\uffff", "line\nbreak"]):
        site = report.site(report.stack(("jit", name, number + 1)), live=(10, 1))
        report.leak(site, direct=(10, 1))
    _, cases = junit_of(folder_of(tmp_path, report.data()))
    names = {name.removeprefix("leak at ") for name in failures(cases)}
    assert {"[jit <script>&amp;]", '[jit a"b]', "[jit ??]", "[jit bell?]"} <= names and cases[0].classname == "<&\"'>??"


@pytest.mark.parametrize("place", ["no/such/folder/x.xml", "/dev/full"])
def test_a_file_that_cannot_be_written(place, tmp_path):
    done = command("report", demo_folder(tmp_path), "--junit", place, cwd=tmp_path)
    assert done.status == 2 and len(done.stderr.splitlines()) == 1 and place in done.stderr
