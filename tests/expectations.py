"""Reads what a planted program says a report must hold, and compares.

The lines of a program's head, each `// expect ...`; `@tag` is the code line that ends in the comment `@tag`:

    none                                 nothing leaks (needed where no leak is listed)
    [child] direct BYTES in BLOCKS at @TAG [kind KIND]      leaked blocks; `child`: in the forked child's report
    [child] indirect BYTES in BLOCKS at @TAG [kind KIND]
    allocations N, frees N, temporaries N, live BYTES, peak BYTES        the summary
    kind KIND live|peak|allocations N    the summary's by_kind
    size UP_TO allocations N bytes BYTES a row of the size histogram; with one such line all rows must be listed
    peak-apart MS                        the peak is that far from the program's start and from its end
    peak-within LOW HIGH                 the peak, and LOW may be missed by what a note says, or a percent without one
    hotspot @TAG allocations N bytes BYTES
    temporary @TAG N
    peak-row @TAG bytes BYTES [blocks N]
    held @TAG TEXT                       some entry of the row's held_by contains TEXT
    stack @TAG F1 < F2 < ...             the leaked site's functions, innermost first
    function @TAG NAME                   the leaked site's whole function name
    truncated @TAG, whole @TAG           the leaked site's stack was cut, or reaches main
    status N                             the program's exit status (0)
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

SUMMARY = {
    "allocations": "allocations",
    "frees": "frees",
    "temporaries": "temporaries",
    "live": "live_bytes",
    "peak": "peak_bytes",
}
BY_KIND = {"live": "live_bytes", "peak": "peak_bytes", "allocations": "allocations"}


@dataclass
class Leaks:
    """What leaked at one line, of one kind."""

    direct_bytes: int = 0
    indirect_bytes: int = 0
    blocks: int = 0

    def add(self, direct_bytes, indirect_bytes, blocks):
        self.direct_bytes += direct_bytes
        self.indirect_bytes += indirect_bytes
        self.blocks += blocks


@dataclass
class Expectation:
    source: Path
    lines: dict  # tag -> line number
    leaks: dict = field(default_factory=lambda: defaultdict(Leaks))  # (line, kind) -> Leaks
    child_leaks: dict = field(default_factory=lambda: defaultdict(Leaks))
    direct: list = field(default_factory=lambda: [0, 0])  # heap bytes, blocks: LeakSanitizer's totals
    indirect: list = field(default_factory=lambda: [0, 0])
    status: int = 0
    sizes: dict = field(default_factory=dict)
    checks: list = field(default_factory=list)  # functions of a report that return what is wrong, or None

    @property
    def has_child(self):
        return bool(self.child_leaks)


def tagged_lines(text):
    """{"@tag": line number} of a program's text."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if tag := re.search(r"(?://|#) (@[a-z_]+)$", line):
            found[tag[1]] = number
    return found


def read(source):
    """The expectation that a program's head states."""
    source = Path(source)
    text = source.read_text()
    expectation = Expectation(source, tagged_lines(text))
    stated = re.findall(r"^// expect (.*?)\s*$", text, re.MULTILINE)
    assert stated, f"{source.name} states no expectation"
    for line in stated:
        _read_line(expectation, line)
    says_none = "none" in stated
    assert says_none != bool(expectation.leaks), f"{source.name}: either leaks or `expect none`"
    return expectation


def _read_line(expectation, text):
    words = text.split()
    tags = [word for word in words if word.startswith("@")]
    number = expectation.lines[tags[0]] if tags else None
    if leak := re.fullmatch(r"(child )?(direct|indirect) (\d+) in (\d+) at @\S+(?: kind (\w+))?", text):
        _read_leak(expectation, number, *leak.groups())
    elif words[0] == "size":
        expectation.sizes[int(words[1])] = (int(words[3]), int(words[5]))
    elif words[0] == "status":
        expectation.status = int(words[1])
    elif words[0] in SUMMARY:
        expectation.checks.append(_summary_check(words[0], int(words[1])))
    elif words[0] in LINE_CHECKS:
        expectation.checks.append(LINE_CHECKS[words[0]](expectation, number, words))
    else:
        assert text == "none", f"{expectation.source.name}: cannot read `expect {text}`"


def _read_leak(expectation, number, child, split, bytes_text, blocks_text, kind):
    amount, blocks, kind = int(bytes_text), int(blocks_text), kind or "heap"
    leaks = expectation.child_leaks if child else expectation.leaks
    direct = split == "direct"
    leaks[number, kind].add(amount if direct else 0, 0 if direct else amount, blocks)
    if not child and kind == "heap":
        totals = expectation.direct if direct else expectation.indirect
        totals[0] += amount
        totals[1] += blocks


def leaks_by_line(report):
    """A report's unsuppressed leaks as {(file name, line, kind): Leaks}; equal lines of different stacks add up."""
    found = defaultdict(Leaks)
    for row in report["leaks"]:
        if not row["suppressed"]:
            site = row["site"] or {}
            file_name = Path(site.get("file") or "?").name
            key = (file_name, site.get("line"), row["kind"])
            found[key].add(row["direct_bytes"], row["indirect_bytes"], row["blocks"])
    return found


def rows_at(report, section, source, number):
    """The rows of one of a report's lists whose site is this line of this source."""
    return [
        row
        for row in report[section]
        if row["site"] and Path(row["site"]["file"] or "?").name == source.name and row["site"]["line"] == number
    ]


def frames_text(stack):
    def one(frame):
        place = f"{Path(frame['file']).name}:{frame['line']}" if frame.get("file") else frame.get("module")
        return f"{frame.get('function')} {place}"

    return " < ".join(one(frame) for frame in stack)


def function_name(frame):
    """A frame's function without its argument list."""
    return re.sub(r"\(.*", "", frame.get("function") or "?")


def problems(expectation, report, leaks=None):
    """Everything in which a report differs from what was expected, a line each. `leaks`: the wanted ones, where they
    are not the main process's."""
    wanted_leaks = expectation.leaks if leaks is None else leaks
    wanted = {(expectation.source.name, line, kind): leak for (line, kind), leak in wanted_leaks.items()}
    found = leaks_by_line(report)
    wrong = []
    for key in sorted(set(wanted) | set(found), key=str):
        if wanted.get(key) != found.get(key):
            wrong.append(f"leaks at {key}: expected {wanted.get(key)}, reported {found.get(key)}")
            rows = rows_at(report, "leaks", Path(key[0]), key[1])
            wrong += [f"    {frames_text(row['stack'])}" for row in rows]
    if leaks is None:
        wrong += [problem for check in expectation.checks if (problem := check(report))]
        wrong += _size_problems(expectation, report)
    return wrong


def _size_problems(expectation, report):
    if not expectation.sizes:
        return []
    found = {row["up_to"]: (row["allocations"], row["bytes"]) for row in report["sizes"] if row["allocations"]}
    return [] if found == expectation.sizes else [f"sizes: expected {expectation.sizes}, reported {found}"]


def _summary_check(word, wanted):
    def check(report):
        found = report["summary"][SUMMARY[word]]
        return None if found == wanted else f"summary {SUMMARY[word]}: expected {wanted}, reported {found}"

    return check


def _kind_check(_expectation, _number, words):
    kind, word, wanted = words[1], words[2], int(words[3])

    def check(report):
        row = report["summary"]["by_kind"].get(kind, dict.fromkeys(BY_KIND.values(), 0))
        found = row[BY_KIND[word]]
        return None if found == wanted else f"by_kind {kind} {BY_KIND[word]}: expected {wanted}, reported {found}"

    return check


def _peak_time_check(_expectation, _number, words):
    apart = int(words[1]) / 1000

    def check(report):
        found = report["summary"]["peak_seconds"]
        if apart <= found <= report["seconds"] - apart:
            return None
        return f"peak at {found} s of {report['seconds']}: expected {apart} s from both ends"

    return check


def _row_check(expectation, section, number, wanted):
    def check(report):
        rows = rows_at(report, section, expectation.source, number)
        found = {key: sum(row[key] for row in rows) for key in wanted}
        return None if found == wanted else f"{section} at line {number}: expected {wanted}, reported {found}"

    return check


def _hotspot_check(expectation, number, words):
    wanted = {"allocations": int(words[3]), "allocated_bytes": int(words[5])}
    return _row_check(expectation, "hotspots", number, wanted)


def _temporary_check(expectation, number, words):
    return _row_check(expectation, "temporaries", number, {"temporaries": int(words[2])})


def _peak_check(expectation, number, words):
    wanted = {key: int(value) for key, value in zip(words[2::2], words[3::2])}
    return _row_check(expectation, "peak", number, wanted)


def _peak_within_check(_expectation, _number, words):
    low, high = int(words[1]), int(words[2])

    def check(report):
        peak = report["summary"]["peak_bytes"]
        noted = [re.search(r"it may be up to (\d+) KiB low", note) for note in report["notes"]]
        missed = max([int(found[1]) << 10 for found in noted if found], default=peak // 100)
        return None if low - missed <= peak <= high else f"peak {peak}, {missed} missed: expected {low} to {high}"

    return check


def _held_check(expectation, number, words):
    text = " ".join(words[2:])

    def check(report):
        rows = rows_at(report, "peak", expectation.source, number)
        held = [holder for row in rows for holder in row["held_by"] or []]
        return None if any(text in holder for holder in held) else f"line {number} held by {held}: no {text!r} in it"

    return check


def _leaked_stacks(expectation, report, number):
    return [row["stack"] for row in rows_at(report, "leaks", expectation.source, number)]


def _stack_check(expectation, number, words):
    functions = " ".join(words[2:]).split(" < ")

    def check(report):
        stacks = _leaked_stacks(expectation, report, number)
        if not stacks:
            return f"line {number}: no leaked stack to compare"
        for stack in stacks:
            own = [function_name(frame) for frame in stack]
            start = own.index(functions[0]) if functions[0] in own else 0
            if own[start : start + len(functions)] != functions:
                return f"line {number}: expected {' < '.join(functions)} in {frames_text(stack)}"
        return None

    return check


def _function_check(expectation, number, words):
    name = " ".join(words[2:])

    def check(report):
        found = {row["site"]["function"] for row in rows_at(report, "leaks", expectation.source, number)}
        return None if found == {name} else f"line {number}: expected function {name!r}, reported {sorted(found)}"

    return check


def _ending_check(expectation, number, words):
    word = words[0]

    def check(report):
        stacks = _leaked_stacks(expectation, report, number)
        if not stacks:
            return f"line {number}: no leaked stack to compare"
        for stack in stacks:
            functions = [frame.get("function") for frame in stack]
            cut = functions[-1] == "[truncated]"
            if "[truncated]" in functions[:-1] or cut != (word == "truncated"):
                return f"line {number}: expected a {word} stack: {len(stack)} frames, {frames_text(stack)}"
            if word == "whole" and "main" not in functions:
                return f"line {number}: no main in {frames_text(stack)}"
        return None

    return check


LINE_CHECKS = {
    "kind": _kind_check,
    "hotspot": _hotspot_check,
    "temporary": _temporary_check,
    "peak-row": _peak_check,
    "peak-apart": _peak_time_check,
    "peak-within": _peak_within_check,
    "held": _held_check,
    "stack": _stack_check,
    "function": _function_check,
    "truncated": _ending_check,
    "whole": _ending_check,
}
