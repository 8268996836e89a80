"""What stands in the text for people: curves as lines of blocks on a terminal, and figures that line up."""

import re

from heaptide_run import COMMAND, command
from report_files import Report, demo_folder, folder_of
from terminal import Terminal

# Samples of 1000, 2000 ... 20000 bytes, and the site's 0, 100 ... 400 at five points, in eight heights.
DEMO_WHOLE = "  ▁▂▂▂▃▃▃▄▄▅▅▅▆▆▆▇▇▇██"
DEMO_SITE = " " * 15 + "▁▃▅▆█"


def shown(folder, **env):
    """The report's lines on a terminal."""
    with Terminal([COMMAND, "report", folder, "--fail-on", "none"], columns=120, lines=200, env=env) as terminal:
        assert terminal.end() == 0
        return [line.rstrip() for line in terminal.screen.display]


def blocks(lines):
    return [line for line in lines if re.search("[▁-█]", line)]


def test_curves_are_lines_of_blocks(tmp_path):
    """That of the process below GROWTH's verdict, a site's below its stack."""
    lines = shown(demo_folder(tmp_path))
    assert blocks(lines) == [DEMO_WHOLE, DEMO_SITE]
    assert lines[lines.index(DEMO_WHOLE) - 1].startswith("GROWTH  pass")
    assert lines[lines.index(DEMO_SITE) - 1].strip() == "main  demo.py:40"


def test_a_short_peak_stays_visible(tmp_path):
    """Of ten samples in a column the highest is shown."""
    report = Report(duration=600 * 10**8)
    for number in range(600):
        report.sample(number * 10**8, heap=8000 if number == 123 else 1000)
    assert blocks(shown(folder_of(tmp_path, report.data()))) == ["  " + "▂" * 12 + "█" + "▂" * 47]


def test_terminals_without_blocks_have_none(tmp_path):
    assert blocks(shown(demo_folder(tmp_path), LC_ALL="C")) == []


def test_pipes_have_none(tmp_path):
    assert not re.search("[▁-█]", command("report", demo_folder(tmp_path)).stdout.decode())


FIGURES = [1, 999, 1023, 1024, 123_456, 999_999, 2**20 - 1, 2**30 + 5, 999_999_999, 2**40]


def test_columns_line_up(tmp_path):
    """Whatever their size, figures of a list end in one column, and what is said of them begins in one."""
    counts = [min(figure, 999_999_999) for figure in FIGURES]
    whole = (sum(FIGURES), sum(counts), sum(FIGURES), sum(counts), sum(counts), sum(counts), sum(FIGURES))
    report = Report(live=sum(FIGURES), peak=sum(FIGURES), kinds={"heap": whole})
    for number, (figure, count) in enumerate(zip(FIGURES, counts)):
        site = report.site(report.stack(("jit", f"site_{number}", 1)), calls=(count, count, count, figure),
                           live=(figure, count), peak=(figure, count))  # fmt: skip
        report.leak(site, direct=(figure, count))
        report.size(8 << 3 * number, count, figure)
    text = command("report", folder_of(tmp_path, report.data()), "--fail-on", "none").stdout.decode()
    sections = {part.split()[0]: part.splitlines()[1:] for part in text.split("\n\n")[1:]}
    for section in ("LEAKS", "PEAK", "HOTSPOTS", "TEMPORARIES"):
        rows = [line for line in sections[section] if re.match(r" *[\d.,]+( [KMGT]?i?B)?  (in|of|allocation)", line)]
        assert len(rows) == len(FIGURES), sections[section]
        ends = {re.match(r" *[\d.,]+( [KMGT]?i?B)?", row).end() for row in rows}
        assert ends == {12}, rows
        stacks = [line for line in sections[section] if "[jit site_" in line]
        assert {line.index("[") for line in stacks} == {15} and len(stacks) == len(FIGURES)
    sizes = sections["SIZES"]
    assert len(sizes) == len(FIGURES)
    for word in (" and less", " allocation", " %"):
        assert len({line.index(word) for line in sizes}) == 1, (word, sizes)
    assert len({len(line) for line in sizes}) == 1, sizes


def test_lines_below_many_native_frames(tmp_path):
    """The two lines of Python that called native code are told of, however many frames that has."""
    report = Report()
    natives = [("jit", f"native_{number}", number) for number in range(1, 21)]
    lines = [("python", name, "/src/app.py", number) for number, name in enumerate(("call", "work", "main"), 1)]
    site = report.site(report.stack(*natives, *lines), calls=(1, 0, 0, 64), live=(64, 1), peak=(64, 1))
    report.leak(site, direct=(64, 1))
    text = [line.strip() for line in shown(folder_of(tmp_path, report.data()))]
    begin = text.index("[jit native_1]")
    middle = [f"[jit native_{number}]" for number in range(2, 9)]
    assert text[begin + 1 : begin + 12] == [
        *middle,
        "... 12 more frames",
        "call  app.py:1",
        "work  app.py:2",
        "... 1 more frame",
    ]
