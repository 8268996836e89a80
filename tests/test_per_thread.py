"""`run --per-thread`: each thread's share of every row. cases/thread_shares.c has threads that lose, hold and free
through one function; what they do is counted here by hand."""

import json
import os
import signal
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from conftest import CASES, TESTS
from expectations import tagged_lines
from heaptide_run import EVERY_ROW, beside, command, read_reports, traced
from page_browser import page_write
from python_versions import PYTHONS
from report_schema import schema_problems, total_problems
from test_attach import bare, done
from test_cases_start import sound_report
from test_life import life, running  # noqa: F401

SOURCE = (CASES / "thread_shares.c").read_text()
BLOCK = 1000
Work = namedtuple("Work", "lost held freed")
WORKS = {
    "loader": Work(3, 5, 7),
    "parser": Work(11, 2, 1),
    "writer": Work(0, 1, 30),
    "early": Work(0, 4, 0),
    "late": Work(0, 8, 0),
}
TOGETHER = ("loader", "parser", "writer")
PYTHON_PROGRAM = TESTS / "python" / "thread_shares.py"
PYTHON_LINES = tagged_lines(PYTHON_PROGRAM.read_text())


@pytest.fixture
def shares(case):
    return case("thread_shares.c", flags=("-pthread", "-D_GNU_SOURCE", "-rdynamic"))


def work_row(report, section):
    """The row of the function that all threads go through, called by work()."""
    (row,) = [row for row in report[section] if "work" in [frame["function"] for frame in row["stack"]]]
    return row


def by_name(row, *keys):
    """{name: figures} of a row's threads; no name is there twice."""
    found = {share["name"]: tuple(share[key] for key in keys) for share in row["threads"]}
    assert len(found) == len(row["threads"]), row["threads"]
    return found


def without_threads(report):
    """What has to be the same whether threads are kept apart or not."""
    lists = ("leaks", "peak", "hotspots", "temporaries")
    shown = {key: [{**row, "threads": None} for row in report[key]] for key in lists}
    return json.dumps({**shown, "summary": {**report["summary"], "peak_rss_bytes": 0, "peak_seconds": 0}})


def test_a_thread_has_its_share_of_every_row(shares, out):
    report = sound_report(beside([shares], out=out, options=["--per-thread"]))
    leaks = by_name(work_row(report, "leaks"), "direct_bytes", "indirect_bytes", "blocks")
    assert leaks == {name: (BLOCK * w.lost, 0, w.lost) for name, w in WORKS.items() if w.lost}
    hotspots = by_name(work_row(report, "hotspots"), "allocations", "allocated_bytes")
    assert hotspots == {name: (sum(w), BLOCK * sum(w)) for name, w in WORKS.items()}
    # A block that is freed is its thread's last one.
    temporaries = by_name(work_row(report, "temporaries"), "temporaries")
    assert temporaries == {name: (w.freed,) for name, w in WORKS.items() if w.freed}
    # The last of them has all that lasts, and nothing is freed after it.
    peak = by_name(work_row(report, "peak"), "bytes", "blocks")
    assert peak == {name: (BLOCK * (w.lost + w.held), w.lost + w.held) for name, w in WORKS.items()}
    tids = {thread["name"]: thread["tid"] for thread in report["threads"]}
    assert {share["name"]: share["tid"] for share in work_row(report, "hotspots")["threads"]}.items() <= tids.items()


def test_rows_are_the_same_with_and_without(shares, tmp_path):
    plain = sound_report(traced([shares], out=tmp_path / "plain"))
    apart = sound_report(traced([shares], out=tmp_path / "apart", options=["--per-thread"]))
    for section in ("leaks", "peak", "hotspots", "temporaries"):
        assert {row["threads"] and len(row["threads"]) for row in plain[section]} == {None}
    assert without_threads(plain) == without_threads(apart)
    texts = []
    for name in ("plain", "apart"):
        text = command("report", tmp_path / name, "--fail-on", "none").stdout.decode()
        texts.append(text[text.index("LEAKS") : text.index("GROWTH")])
    assert texts[0] == texts[1] and "13.7 KiB  in 14 blocks of heap" in texts[0]


def test_snapshot_and_diff(shares, out):
    run = traced([shares, "snapshot"], out=out, options=["--per-thread"])
    assert run.status == 0, run.describe()
    (before,) = read_reports(out / "before", *EVERY_ROW)
    assert set(by_name(work_row(before, "hotspots"), "allocations")) == set(TOGETHER)
    assert total_problems(before) == []
    compared = command("diff", out / "before", out, "--json")
    (pair,) = [json.loads(line) for line in compared.stdout.splitlines()]
    lasting = [BLOCK * sum(WORKS[name].held + WORKS[name].lost for name in names) for names in (TOGETHER, WORKS)]
    # A site that was not met again would be NEW, since it leaks or is live; that threads differ is none.
    assert pair["changes"] == [] and compared.status == 0
    assert pair["summary"]["new"]["live_bytes"] - pair["summary"]["base"]["live_bytes"] == lasting[1] - lasting[0]


def test_a_folder_without_shares_is_compared_with_one_that_has_them(shares, tmp_path):
    traced([shares], out=tmp_path / "plain")
    traced([shares], out=tmp_path / "apart", options=["--per-thread"])
    compared = command("diff", tmp_path / "plain", tmp_path / "apart", "--json")
    (pair,) = [json.loads(line) for line in compared.stdout.splitlines()]
    assert compared.status == 0 and pair["changes"] == []


def test_the_page_filters_by_thread(shares, out, tmp_path, show):
    """What it shows of each is what that thread lost, kept and allocated: graph and table."""
    report = traced([shares], out=out, options=["--per-thread"]).report(*EVERY_ROW)
    page = show(page_write(out, tmp_path / "page.html"))
    for thread in report["threads"]:
        page.tab.locator("#thread").select_option(label=f"{thread['name']} {thread['tid']}")
        work = WORKS.get(thread["name"], Work(0, 0, 0))
        others = sum(
            share["allocations"]
            for row in report["hotspots"]
            for share in row["threads"]
            if share["tid"] == thread["tid"] and thread["name"] == "main"
        )
        for mode, wanted in (("leaked", BLOCK * work.lost), ("allocations", sum(work) + others)):
            page.js("mode => heaptidePage.view.change({ mode })", mode)
            assert page.root_value() == wanted, (thread, mode)
        page.tab.locator("#tabs [data-tab=leaks]").click()
        assert [row["Bytes"] for row in page.table()] == ([BLOCK * work.lost] if work.lost else [])


def test_fork_from_a_thread(shares, out):
    """What the child's only thread allocates is its main thread's; the parent's shares are not in it."""
    run = traced([shares, "fork"], out=out, options=["--per-thread"])
    reports = run.reports(*EVERY_ROW)
    assert run.status == 0 and len(reports) == 2
    for report in reports:
        assert schema_problems(report) + total_problems(report) == []
    (child,) = [report for report in reports if not report["main"]]
    assert {(share["tid"], share["name"]) for row in child["hotspots"] for share in row["threads"]} == {
        (child["pid"], "main")
    }
    (row,) = [row for row in child["hotspots"] if row["site"]["function"] == "take"]
    assert row["allocated_bytes"] == 70
    (row,) = [row for row in run.report()["hotspots"] if "fork_and_run" in str(row["stack"]) and row["kind"] == "heap"]
    assert by_name(row, "allocated_bytes") == {"forker": (500,)}


def test_more_threads_than_are_kept_apart(shares, out):
    """1024 have sites of their own; the others are one."""
    report = sound_report(traced([shares, "many"], out=out, options=["--per-thread"]))
    (row,) = [row for row in report["hotspots"] if "hold_one" in str(row["stack"])]
    before = 1 + len(WORKS)  # main and those
    assert row["allocations"] == 1100 and len(row["threads"]) == 1024 - before + 1
    (rest,) = [share for share in row["threads"] if share["tid"] is None]
    assert rest == {"tid": None, "name": "later threads", "allocations": 1100 - (1024 - before), "allocated_bytes":
                    10 * (1100 - (1024 - before))}  # fmt: skip


def test_attach(life, tmp_path):  # noqa: F811
    """Threads that were there have their shares too, also when it is done a second time."""
    with bare([life("server.c"), "4"]) as process:
        for number in range(2):
            out = tmp_path / str(number)
            done("attach", process.pid, "--per-thread", "--out", out)
            process.stdin.flush()
            until_some(out)
            done("detach", out)
            (report,) = read_reports(out, *EVERY_ROW)
            assert schema_problems(report) + total_problems(report) == []
            found = {share["tid"] for row in report["hotspots"] for share in row["threads"]}
            assert len(found) >= 2 and None not in found, report["hotspots"]
        process.stdin.close()
        assert process.wait(20) == 0


def test_a_thread_from_before_an_attach_keeps_its_name(life, tmp_path):  # noqa: F811
    """Nobody tells of its end: it has the name that it had when it was first seen."""
    out = tmp_path / "out"
    with bare([life("thread_before.c")]) as process:
        done("attach", process.pid, "--per-thread", "--out", out)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "gone\n"
        done("detach", out)
        process.stdin.close()
        assert process.wait(20) == 0
    (report,) = read_reports(out, *EVERY_ROW)
    assert schema_problems(report) + total_problems(report) == []
    assert [(one["name"], one["allocations"]) for one in report["threads"] if one["name"] != "main"] == [
        ("ends early", 100)
    ]
    (row,) = [row for row in report["hotspots"] if row["site"]["function"] == "keep"]
    assert by_name(row, "allocations") == {"ends early": (100,)}


def until_some(out):
    """Until a snapshot has several threads' allocations."""
    for number in range(100):
        done("snapshot", out, "--label", f"look-{number}")
        (report,) = read_reports(out / f"look-{number}", *EVERY_ROW)
        if len({share["tid"] for row in report["hotspots"] for share in row["threads"]}) >= 2:
            return
    raise AssertionError("no two threads allocated")


def test_a_killed_program_leaves_its_shares(life, out):  # noqa: F811
    with running([life("leak_slowly.c")], out, options=["--per-thread", "--snapshot-every", "1"]) as process:
        while not list(out.glob("heaptide.*.bin")):
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
    for report in read_reports(out, *EVERY_ROW):
        assert total_problems(report) == []
        assert {share["name"] for row in report["hotspots"] for share in row["threads"]} == {"main"}


# ---- Python

HELD_BLOCKS = {"loader": 100, "parser": 300, "writer": 10}
LOST_BLOCKS = {"loader": 7, "parser": 11, "writer": 0}


def python_row(report, tag):
    rows = [
        row
        for row in report["python"]
        if Path((row["site"] or {}).get("file") or "?").name == PYTHON_PROGRAM.name
        and row["site"]["line"] == PYTHON_LINES[tag]
    ]
    (row,) = [row for row in rows if row["live_bytes"] > 1000]
    return row


@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize("depth", [1, 4])
def test_python(version, depth, tmp_path):
    """Each of six threads has as much of a line as threads of the same work have, and nothing but that."""
    options = ["--py", "--py-depth", str(depth)]
    plain = traced([PYTHONS[version], PYTHON_PROGRAM], out=tmp_path / "plain", options=options).report(*EVERY_ROW)
    run = traced([PYTHONS[version], PYTHON_PROGRAM], out=tmp_path / "apart", options=[*options, "--per-thread"])
    report = run.report(*EVERY_ROW)
    assert schema_problems(report) + total_problems(report) == []
    tids = [int(word) for word in run.stdout.split()]
    works = ["loader", "parser", "writer"] * 2
    for tag, counts, bytes_ in (("@held", HELD_BLOCKS, 2000), ("@lost", LOST_BLOCKS, 3000)):
        row = python_row(report, tag)
        whole = python_row(plain, tag)
        assert [row[key] for key in ("live_blocks", "allocations", "leaked", "stack")] == [
            whole[key] for key in ("live_blocks", "allocations", "leaked", "stack")
        ]
        found = {share["tid"]: share["live_bytes"] for share in row["threads"] if share["live_bytes"]}
        assert set(found) == {tid for tid, work in zip(tids, works, strict=True) if counts[work]}
        for tid, work in zip(tids, works, strict=True):
            assert 0 <= found.get(tid, 0) - counts[work] * bytes_ <= counts[work] * 200 + 200, (work, found)


def test_python_native_blocks(tmp_path):
    """A big buffer is malloc's: its stack has the line, and its thread."""
    script = tmp_path / "big.py"
    script.write_text(
        "import threading\n"
        "kept = []\n"
        "def take(count):\n"
        "    for _ in range(count): kept.append(bytearray(1 << 16))\n"
        "for count in (3, 5):\n"
        "    thread = threading.Thread(target=take, args=(count,))\n"
        "    thread.start()\n"
        "    thread.join()\n"
    )
    run = beside([sys.executable, script], out=tmp_path / "out", options=["--py", "--per-thread"])
    report = run.report(*EVERY_ROW)
    assert total_problems(report) == []
    place = {"file": str(script), "line": 4}
    rows = [row for row in report["peak"] if row["site"] and place.items() <= row["site"].items()]
    found = sorted(share["bytes"] >> 16 for row in rows for share in row["threads"] if share["bytes"] >> 16)
    assert found == [3, 5]
