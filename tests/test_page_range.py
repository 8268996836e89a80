"""Ranges of the page's timeline: what every view shows of a range is what the program then held."""

import pytest

from heaptide_run import traced
from page_browser import json_of, page_write, site_name
from program_build import REPOSITORY
from report_files import folder_of, make_report

HEADER = ("-I", str(REPOSITORY / "include"))
PERIOD_MS = 20

LIVE_AT = """seconds => {
  const { view, data, timeline, weighed } = heaptidePage;
  view.change({ range: [0, seconds] });
  const kinds = timeline.seriesOf(data(), view.get()).areas;
  return { total: kinds.reduce((sum, kind) => sum + timeline.valueAt(kind, seconds), 0),
           sitesAt: weighed("live").weights.times[0].at, text: document.getElementById("range-text").textContent };
}"""


@pytest.fixture
def marked(planted, tmp_path, out, show):
    """Runs a program of planted/ that makes marks; (its page, its report)."""

    def run(name, fragment):
        run = traced([planted(name, flags=HEADER)], out=out, options=["--every", str(PERIOD_MS)])
        assert run.status == 0, run.describe()
        (report,) = json_of(out)
        return show(page_write(out, tmp_path / "page.html"), fragment), report

    return run


def steps_of(report):
    """(begin, end, bytes live, {site: bytes}) of each step of stairs.c."""
    times = [mark["seconds"] for mark in report["marks"]] + [report["seconds"]]
    for mark, begin, end in zip(report["marks"], times, times[1:]):
        total, *sites = mark["name"].split()
        assert mark["live_bytes"] == int(total)
        yield begin, end, int(total), {name: int(held) for name, held in zip(sites[::2], sites[1::2])}


def instants(begin, end):
    """From the first sample of a step on; nothing happens in it but at its end."""
    first = begin + 1.5 * PERIOD_MS / 1000
    return [first + (end - first) * share for share in (0, 0.2, 0.4, 0.6, 0.8, 0.98)]


def test_any_instant_shows_what_was_live_then(marked):
    """The timeline's total, the graph's and every site's are those that the program counted, in each of its steps."""
    shown, report = marked("stairs.c", "m=live&t=live")
    steps = list(steps_of(report))
    assert len(steps) == 10 and len({total for _, _, total, _ in steps}) > 6
    for begin, end, total, sites in steps[:-1]:  # the last one ends in the report
        seen = []
        for instant in instants(begin, end):
            found = shown.js(LIVE_AT, instant)
            assert found["total"] == total, (instant, steps)
            if found["sitesAt"] < begin:
                continue  # sites are known at fewer points in time, and the page says at which
            seen.append(found["sitesAt"])
            assert shown.root_value() == total, (instant, steps)
            held = {row["Site"]: row["Live"] for row in shown.table()}
            assert {name: held.get(name, 0) for name in sites} == sites, (instant, steps)
        assert seen, f"no site is known from {begin} to {end}"


def test_the_page_says_what_the_kinds_held(marked):
    shown, report = marked("stairs.c", "m=live&t=live")
    begin, end, total, sites = list(steps_of(report))[4]
    found = shown.js(LIVE_AT, (begin + end) / 2)
    assert sites["map_make"] == 2 << 20 and found["text"].endswith("at its end heap 600 KiB, mmap 2.00 MiB")
    assert "as recorded at" in shown.text("#range-times")
    shown.js("() => heaptidePage.view.change({ range: null })")
    assert shown.root_value() == report["summary"]["live_bytes"] == 0


def range_show(shown, begin, end):
    shown.js("range => heaptidePage.view.change({ range })", [begin, end])


def test_leaks_of_a_range_are_those_that_came_about_in_it(marked):
    """A block's time is not recorded; what a site held and never held less of again, is."""
    shown, report = marked("losses.c", "m=leaked&t=leaks")
    kib, ends = 1024, {mark["name"]: mark for mark in reversed(report["marks"])}
    early, late = (ends[name]["seconds"] for name in ("early", "late"))
    lost = {"early_lose": 4 * 300 * kib, "late_lose": 4 * 500 * kib, "borrow": 400 * kib}
    assert {site_name(row): row["direct_bytes"] for row in report["leaks"]} == lost
    ranges = {(0, early): ["borrow"], (early, late): ["early_lose"], (late, report["seconds"]): ["late_lose"]}
    for (begin, end), names in ranges.items():
        range_show(shown, begin, end)
        assert {row["Site"]: row["In range"] for row in shown.table()} == {name: lost[name] for name in names}
        assert shown.root_value() == sum(lost[name] for name in names)
    rounds = [mark["seconds"] for mark in report["marks"] if mark["name"] == "late"]
    range_show(shown, rounds[1], rounds[3])
    assert [(row["Site"], row["In range"], row["Bytes"]) for row in shown.table()] == [
        ("late_lose", 2 * 500 * kib, 4 * 500 * kib)
    ]
    assert "what leaks rose by in the range" in shown.text("#table-note")
    range_show(shown, 0, report["seconds"])
    assert shown.root_value() == sum(lost.values()) and "every site, exactly" in shown.text("#range-times")


def test_a_range_from_the_marks_table_holds_all_its_marks(marked):
    shown, report = marked("losses.c", "t=marks")
    for name in ("early", "late"):
        shown.js("() => heaptidePage.view.change({ range: null })")
        shown.tab.locator("#table-body .row", has_text=name).dblclick()
        (row,) = [row for row in shown.table() if row["Name"] == name]
        assert row["Times"] == 4 and row["Growth each"] == (300 if name == "early" else 500) * 1024


def test_leaks_of_sites_that_were_not_followed_are_told_apart(tmp_path, show):
    report = make_report.demo()
    folder = folder_of(tmp_path, report.data(make_report.DEMO_POINTS))
    shown = show(page_write(folder, tmp_path / "page.html"), "m=leaked&t=leaks&r=0.5-1.3")
    assert [row["In range"] for row in shown.table()] == [200]  # of the curve 0, 100, 200, 300, 400 at 0, 0.4 ... 1.6
    assert "6.45 KiB leaked at sites that were not followed over time" in shown.text("#range-times")


def test_ranges_show_what_was_live_then(planted, tmp_path, out, show):
    """At the middle of each phase of phases.c the graph weighs what the phase holds, by the sites that hold it."""
    run = traced([planted("phases.c")], out=out, options=["--every", "20"])
    phases = [line.split()[1:] for line in run.stderr.splitlines() if line.startswith("phase ")]
    assert [phase[0] for phase in phases] == ["base", "first", "second"], run.describe()
    shown = show(page_write(out, tmp_path / "page.html"), "m=live&t=live")
    for name, live, begin, end in phases[:2]:
        middle = (float(begin) + float(end)) / 2
        shown.js("to => heaptidePage.view.change({ range: [0, to] })", middle)
        assert shown.root_value() == int(live), name
        sites = {row["Site"]: row["Live"] for row in shown.table()}
        assert sites.get("first_make", 0) == (1 << 20 if name == "first" else 0)
        assert "as recorded at" in shown.text("#range-times")
    shown.js("to => heaptidePage.view.change({ range: [to, heaptidePage.data().end] })", float(phases[1][3]) - 0.1)
    change = {row["Site"]: row["Change"] for row in shown.table()}
    assert change["first_make"] == -(1 << 20) and change["second_make"] == 2 << 20
    assert "exactly" in shown.text("#range-times")
    shown.keys("3")
    assert shown.root_value() == int(phases[2][1])
    shown.keys("4")
    assert "whole run" in shown.text("#range-times")


def test_growth_in_a_range(tmp_path, show):
    report = make_report.demo()
    points = [i * 400_000_000 for i in range(5)]
    folder = folder_of(tmp_path, report.data(points))
    shown = show(page_write(folder, tmp_path / "page.html"), "t=growth&m=growth&r=0.3-1.3")
    (row,) = shown.table()
    assert row["Site"] == site_name(json_of(folder)[0]["growth"]["sites"][0])
    assert row["Per second"] == pytest.approx(250)
    assert [box["value"] for box in shown.boxes()["children"] if box["name"] == "main"] == [300]
