"""The report's JSON schema, heaptide-report/1, as docs and contract state it: every key there, nothing beside, each of
its type; and the sums that have to hold between its parts.

schema_problems and total_problems return a line for each thing that is wrong.
"""

import re

KINDS = ("heap", "mmap", "device", "pinned", "managed", "python")
BEHALF = ("[on behalf of]", "[started on behalf of]", "[backward of]")
REASONS = ("exit", "_exit", "signal", "crash", "snapshot", "detach", "exec", "killed")


class Type:
    """A named predicate over JSON values."""

    def __init__(self, name, accepts):
        self.name = name
        self.accepts = accepts


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def one_of(*words):
    return Type(f"one of {words}", lambda value: value in words)


def nullable(inner):
    return Type(f"{inner.name} or null", lambda value: value is None or inner.accepts(value))


COUNT = Type("a whole number from 0", is_count)
WHOLE = Type("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool))
NUMBER = Type("a number", is_number)
SECONDS = Type("seconds from 0", lambda value: is_number(value) and value >= 0)
TEXT = Type("a text", lambda value: isinstance(value, str))
FLAG = Type("true or false", lambda value: isinstance(value, bool))
PATH = Type("an absolute path", lambda value: isinstance(value, str) and value.startswith("/"))
MOMENT = Type(
    "a UTC time", lambda value: isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value)
)
SIGNAL = Type("a signal's name", lambda value: isinstance(value, str) and re.fullmatch(r"SIG[A-Z0-9+]+", value))
POWER = Type("a power of two from 8", lambda value: is_count(value) and value >= 8 and value & (value - 1) == 0)
KIND = one_of(*KINDS)

NATIVE_FRAME = {
    "function": nullable(TEXT),
    "file": nullable(TEXT),
    "line": nullable(COUNT),
    "column": nullable(COUNT),
    "module": nullable(TEXT),
    "offset": nullable(COUNT),
}
PYTHON_FRAME = {"function": nullable(TEXT), "file": nullable(TEXT), "line": nullable(COUNT)}
FRAME = "frame"  # either, with or without "lang"
HELD_BY = nullable(
    Type("a list of texts", lambda value: isinstance(value, list) and all(isinstance(text, str) for text in value))
)
TYPES = nullable(
    Type(
        "at most three types, the largest first",
        lambda value: isinstance(value, list)
        and 1 <= len(value) <= 3
        and all(set(row) == {"type", "blocks", "bytes"} and isinstance(row["type"], str) for row in value)
        and all(is_count(row["blocks"]) and is_count(row["bytes"]) for row in value)
        and [row["bytes"] for row in value] == sorted((row["bytes"] for row in value), reverse=True),
    )
)


def shares(**figures):
    """--per-thread: what each thread has of a row, null without it."""
    keys = {"tid": nullable(COUNT), "name": nullable(TEXT), **figures}
    return nullable(
        Type(
            f"a list of threads with {sorted(figures)}",
            lambda value: isinstance(value, list)
            and all(set(row) == set(keys) and all(keys[key].accepts(row[key]) for key in keys) for row in value),
        )
    )


LEAK = {"direct_bytes": COUNT, "indirect_bytes": COUNT, "blocks": COUNT}
PEAK = {"bytes": COUNT, "blocks": COUNT}
HOTSPOT = {"allocations": COUNT, "allocated_bytes": COUNT}
TEMPORARY = {"temporaries": COUNT}
PYTHON = {"live_bytes": COUNT, "live_blocks": COUNT, "peak_bytes": nullable(COUNT), "allocations": COUNT}
VERDICT = {
    "verdict": one_of("pass", "fail", "n/a"),
    "why": TEXT,
    "slope_bytes_per_s": nullable(NUMBER),
    "projected_bytes": nullable(WHOLE),
    "window": nullable(
        Type(
            "a span of two moments",
            lambda value: isinstance(value, list)
            and len(value) == 2
            and all(map(is_number, value))
            and value[0] <= value[1],
        )
    ),
}
STACKED = {"kind": KIND, "site": FRAME, "stack": [FRAME]}
RANGE = {"sum": COUNT, "min": COUNT, "max": COUNT}
REPORT = {
    "schema": one_of("heaptide-report/1"),
    "pid": COUNT,
    "ppid": COUNT,
    "exe": PATH,
    "argv": [TEXT],
    "main": FLAG,
    "quiet": FLAG,
    "reason": one_of(*REASONS),
    "signal": nullable(SIGNAL),
    "label": nullable(TEXT),
    "attached": FLAG,
    "rank": nullable(COUNT),
    "started": MOMENT,
    "seconds": SECONDS,
    "summary": {
        "allocations": COUNT,
        "frees": COUNT,
        "temporaries": COUNT,
        "peak_bytes": COUNT,
        "peak_seconds": nullable(SECONDS),
        "live_bytes": COUNT,
        "peak_rss_bytes": nullable(COUNT),
        "leaked_direct_bytes": nullable(COUNT),
        "leaked_indirect_bytes": nullable(COUNT),
        "leaked_blocks": nullable(COUNT),
        "by_kind": "by_kind",
    },
    "leaks": [{**STACKED, **LEAK, "suppressed": FLAG, "threads": shares(**LEAK)}],
    "growth": {
        "cpu": VERDICT,
        "device": VERDICT,
        "sites": [{**STACKED, "bytes_per_s": NUMBER, "live_bytes": COUNT, "threads": shares(live_bytes=COUNT)}],
    },
    "peak": [{**STACKED, **PEAK, "held_by": HELD_BY, "threads": shares(**PEAK)}],
    "hotspots": [{**STACKED, **HOTSPOT, "threads": shares(**HOTSPOT)}],
    "temporaries": [{**STACKED, **TEMPORARY, "threads": shares(**TEMPORARY)}],
    "sizes": [{"up_to": POWER, "allocations": COUNT, "bytes": COUNT}],
    "python": [
        {
            **PYTHON,
            "leaked": FLAG,
            "types": TYPES,
            "threads": shares(**PYTHON),
            "site": FRAME,
            "stack": [FRAME],
            "held_by": HELD_BY,
        }
    ],
    "python_arenas": {
        "free_bytes": COUNT,
        "pinned_bytes": COUNT,
        "pinned_by": [{"bytes": COUNT, "blocks": COUNT, "site": FRAME, "stack": [FRAME]}],
    },
    "gpu": {
        "devices": [{"device": COUNT, "name": nullable(TEXT), "peak_bytes": COUNT, "live_bytes": COUNT}],
        "streams": [
            {
                "device": COUNT,
                "stream": TEXT,
                "name": nullable(TEXT),
                "peak_bytes": COUNT,
                "live_bytes": COUNT,
                "allocations": COUNT,
            }
        ],
        "tensors": [
            {
                "bytes": COUNT,
                "device": COUNT,
                "shape": [COUNT],
                "dtype": nullable(TEXT),
                "held_by": HELD_BY,
                "site": FRAME,
            }
        ],
        "fragmentation": {
            "in_use_bytes": nullable(COUNT),
            "live_bytes": nullable(COUNT),
            "pool_reserved_bytes": nullable(COUNT),
        },
        "out_of_memory": {
            "failed": COUNT,
            "events": [
                {
                    "seconds": SECONDS,
                    "device": COUNT,
                    "asked_bytes": COUNT,
                    "live_bytes": COUNT,
                    "total_bytes": nullable(COUNT),
                    "pool_gap_bytes": nullable(COUNT),
                    "site": FRAME,
                    "stack": [FRAME],
                    "holders": [{"bytes": COUNT, "blocks": COUNT, "site": FRAME, "stack": [FRAME]}],
                }
            ],
        },
    },
    "timeline": {
        "seconds": [SECONDS],
        "cpu": [COUNT],
        "device": [COUNT],
        "pinned": [COUNT],
        "rss": [nullable(COUNT)],
        "allocations": [nullable(COUNT)],
        "temporaries": [nullable(COUNT)],
        "sites": [{"site": FRAME, "kind": KIND, "bytes": [COUNT]}],
        "streams": "any list",
    },
    "marks": [{"name": TEXT, "seconds": SECONDS, "live_bytes": COUNT}],
    "mark_names": [
        {
            "name": TEXT,
            "count": COUNT,
            "first_seconds": SECONDS,
            "last_seconds": SECONDS,
            "first_live_bytes": COUNT,
            "last_live_bytes": COUNT,
            "growth_bytes": nullable(NUMBER),
        }
    ],
    "threads": [{"tid": nullable(COUNT), "name": nullable(TEXT), "allocations": COUNT}],
    "resident": {
        "forked_from": nullable(COUNT),
        "bytes": COUNT,
        "anonymous_bytes": COUNT,
        "shared_bytes": COUNT,
        "counted_bytes": COUNT,
        "shared_by_site": [{**STACKED, "bytes": COUNT}],
    },
    "workers": {"count": COUNT, "peak_bytes": RANGE, "leaked_bytes": RANGE},
    "notes": [TEXT],
}
KIND_ROW = {"live_bytes": COUNT, "peak_bytes": COUNT, "allocations": COUNT, "allocated_bytes": COUNT}
CALLS = ("allocations", "temporaries")  # in the summary and, between two samples, in the timeline
# Only of a run with --gpu-timeline frag.
FRAG = {"device": COUNT, "what": one_of("in_use", "pool_reserved"), "bytes": [nullable(COUNT)]}
# A report without GPU or without samples may say so with null.
MAY_BE_NULL = {"python_arenas", "gpu", "gpu.fragmentation", "timeline", "resident", "workers", "workers.leaked_bytes"}


def schema_problems(report):
    """What in one report is not by the schema. `estimated` belongs there only when it is true."""
    wrong = []
    shown = dict(report) if isinstance(report, dict) else report
    if isinstance(shown, dict) and shown.get("estimated") is True:
        del shown["estimated"]
    if isinstance(shown, dict) and isinstance(shown.get("timeline"), dict) and "frag" in shown["timeline"]:
        shown["timeline"] = {key: value for key, value in shown["timeline"].items() if key != "frag"}
        _check(report["timeline"]["frag"], [FRAG], "timeline.frag", wrong)
    _check(shown, REPORT, "", wrong)
    return wrong


def _check(value, shape, path, wrong, may_be_null=MAY_BE_NULL):
    if value is None and path in may_be_null:
        return
    if isinstance(shape, Type):
        if not shape.accepts(value):
            wrong.append(f"{path}: {value!r} is not {shape.name}")
    elif isinstance(shape, dict):
        _check_object(value, shape, path, wrong, may_be_null)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            wrong.append(f"{path}: {value!r} is no list")
            return
        for index, item in enumerate(value):
            _check(item, shape[0], f"{path}[{index}]", wrong, may_be_null)
        if path.endswith("stack"):
            _check_stack(value, path, wrong)
    elif shape == FRAME:
        _check_frame(value, path, wrong)
    elif shape == "by_kind":
        _check_kinds(value, path, wrong)
    elif shape == "any list" and not isinstance(value, list):
        wrong.append(f"{path}: {value!r} is no list")


def _check_object(value, shape, path, wrong, may_be_null=MAY_BE_NULL):
    if not isinstance(value, dict):
        wrong.append(f"{path}: {value!r} is no object")
        return
    for key in sorted(set(shape) - set(value)):
        wrong.append(f"{path}: key {key!r} is missing")
    for key in sorted(set(value) - set(shape)):
        wrong.append(f"{path}: key {key!r} is not in the schema")
    for key in set(shape) & set(value):
        _check(value[key], shape[key], f"{path}.{key}".lstrip("."), wrong, may_be_null)


def _check_kinds(value, path, wrong):
    if not isinstance(value, dict):
        wrong.append(f"{path}: {value!r} is no object")
        return
    for kind in ("heap", "mmap"):
        if kind not in value:
            wrong.append(f"{path}: kind {kind!r} is missing")
    for kind, row in value.items():
        if kind not in KINDS:
            wrong.append(f"{path}: kind {kind!r} is not in the schema")
        _check_object(row, KIND_ROW, f"{path}.{kind}", wrong)


SOUND_FRAMES = set()  # what was looked at: a large report repeats its frames a hundred thousand times


def _check_frame(value, path, wrong):
    if not isinstance(value, dict):
        wrong.append(f"{path}: {value!r} is no frame")
        return
    text, before = str(value), len(wrong)
    if text in SOUND_FRAMES:
        return
    _check_new_frame(value, path, wrong)
    if len(wrong) == before:
        SOUND_FRAMES.add(text)


def _check_new_frame(value, path, wrong):
    frame = dict(value)
    language = frame.pop("lang", "native" if "module" in frame else "python")
    if language not in ("native", "python", "jit"):
        wrong.append(f"{path}.lang: {language!r}")
    _check_object(frame, PYTHON_FRAME if language == "python" else NATIVE_FRAME, path, wrong)


def _check_stack(stack, path, wrong):
    frames = [frame for frame in stack if isinstance(frame, dict)]
    if len({"module" in frame for frame in frames}) > 1 and any("lang" not in frame for frame in frames):
        wrong.append(f"{path}: native and Python frames together, and not each says its lang")
    functions = [frame.get("function") for frame in frames]
    # The thread's own part may be cut, those on whose behalf it works stand behind it.
    if any(one == "[truncated]" and other not in BEHALF for one, other in zip(functions, functions[1:])):
        wrong.append(f"{path}: [truncated] inside the stack")


def _share_totals(report, equal):
    """What threads have of a row adds up to the row."""
    sections = {"leaks": LEAK, "peak": PEAK, "hotspots": HOTSPOT, "temporaries": TEMPORARY, "python": PYTHON}
    for section, figures in sections.items():
        for index, row in enumerate(report[section]):
            for key in figures:
                if row["threads"] is not None and row[key] is not None:
                    equal(f"threads of {section}[{index}] {key}", sum(one[key] for one in row["threads"]), row[key])


def _timeline_problems(timeline, summary):
    wrong = []
    lengths = {key: len(timeline[key]) for key in ("seconds", "cpu", "device", "pinned", "rss", *CALLS)}
    lengths |= {f"sites[{index}]": len(row["bytes"]) for index, row in enumerate(timeline["sites"])}
    if len(set(lengths.values())) != 1:
        wrong.append(f"timeline: columns of different lengths {lengths}")
    for key in CALLS:
        if sum(timeline[key]) != summary[key]:
            wrong.append(f"sum of the timeline's {key}: {sum(timeline[key])} is not {summary[key]}")
    if timeline["seconds"] != sorted(timeline["seconds"]):
        wrong.append("timeline: seconds go back")
    return wrong


def total_problems(report, top=1_000_000):
    """The sums that have to hold in a report printed with `--top top`. A list that was cut there is not summed, nor is
    one that holds only a part of the process's memory (under --py)."""
    wrong = []

    def equal(name, found, wanted):
        if found != wanted:
            wrong.append(f"{name}: {found} is not {wanted}")

    summary, kinds = report["summary"], report["summary"]["by_kind"].values()
    for key in ("allocations", "live_bytes"):
        equal(f"sum of by_kind {key}", sum(kind[key] for kind in kinds), summary[key])
    equal("sum of sizes", sum(row["allocations"] for row in report["sizes"]), summary["allocations"])
    equal(
        "bytes of sizes", sum(row["bytes"] for row in report["sizes"]), sum(kind["allocated_bytes"] for kind in kinds)
    )
    leaks = [row for row in report["leaks"] if not row["suppressed"]]
    for key in ("direct_bytes", "indirect_bytes", "blocks"):
        equal(f"sum of leaks {key}", sum(row[key] for row in leaks), summary[f"leaked_{key}"] or 0)
    if summary["peak_bytes"] < summary["live_bytes"]:
        wrong.append(f"peak {summary['peak_bytes']} is under live {summary['live_bytes']}")
    if summary["frees"] > summary["allocations"]:
        wrong.append(f"{summary['frees']} frees of {summary['allocations']} allocations")
    listed = {"hotspots": ("allocations",) * 2, "peak": ("bytes", "peak_bytes"), "temporaries": ("temporaries",) * 2}
    for section, (key, total) in listed.items():
        if len(report[section]) < top and not report["python"]:
            equal(f"sum of {section}", sum(row[key] for row in report[section]), summary[total])
    _share_totals(report, equal)
    if report["timeline"]:
        wrong += _timeline_problems(report["timeline"], summary)
    return wrong


# ---- heaptide-diff/1, docs/diff.md

CHANGE = ("new", "grown", "gone", "shrunk")
FIGURES = {
    "leaked_bytes": COUNT,
    "leaked_blocks": COUNT,
    "live_bytes": COUNT,
    "live_blocks": COUNT,
    "peak_bytes": COUNT,
    "allocations": COUNT,
}
SITE_FIGURES = {**FIGURES, "peak_blocks": COUNT}
DIFF_PROCESS = {
    "pid": COUNT,
    "exe": PATH,
    "argv": [TEXT],
    "main": FLAG,
    "label": nullable(TEXT),
    "rank": nullable(COUNT),
    "seconds": SECONDS,
}
MARK_SIDE = Type(
    "null or a mark's figures",
    lambda value: value is None
    or (set(value) == {"count", "growth_bytes"} and COUNT.accepts(value["count"])
        and nullable(NUMBER).accepts(value["growth_bytes"])),
)  # fmt: skip
DIFF = {
    "schema": one_of("heaptide-diff/1"),
    "base": DIFF_PROCESS,
    "new": DIFF_PROCESS,
    "summary": {"base": FIGURES, "new": FIGURES},
    "counts": dict.fromkeys(CHANGE, COUNT),
    "small": {"sites": COUNT, "live_bytes": NUMBER},
    "changes": [
        {
            "change": one_of(*CHANGE),
            "figure": one_of("leaked", "live", "peak"),
            "kind": KIND,
            "base": SITE_FIGURES,
            "new": SITE_FIGURES,
            "site": FRAME,
            "stack": [FRAME],
        }
    ],
    "marks": [{"name": TEXT, "base": MARK_SIDE, "new": MARK_SIDE}],
    "notes": [TEXT],
}
# A process that is in one of the folders only.
DIFF_MAY_BE_NULL = {"base", "new", "summary.base", "summary.new"}


def diff_problems(pair):
    """What in one object of `heaptide diff --json` is not by the schema."""
    wrong = []
    _check(pair, DIFF, "", wrong, DIFF_MAY_BE_NULL)
    counts = {word: sum(change["change"] == word for change in pair["changes"]) for word in CHANGE}
    if counts != pair["counts"]:
        wrong.append(f"counts: {pair['counts']} does not fit the changes {counts}")
    return wrong
