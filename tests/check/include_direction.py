"""Proves that includes only point down: docs/how-it-works.md says why each part may know what."""

import fnmatch
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# native/, from the bottom up. A file may include its own layer and those below it.
LAYERS = [
    ("words", ["words", "file_format", "options", "hooks", "asan_order"]),
    (
        "sys",
        ["sys", "sys_*", "text", "thread_name", "crc32", "real", "exec_look", "guard", "task", "maps", "growing"]
        + ["spans"]
        + ["resident", "loaded_objects", "libc_symbol", "module_symbol", "alt_stack", "call_resume", "stack_switch"],
    ),
    ("lock", ["lock", "buffer", "process_info"]),
    (
        "stacks and sites",
        ["cfi", "rules", "unwind", "stack_*", "epilogue", "modules", "site", "site_*", "owner", "behalf"]
        + ["timeline", "marks"],
    ),
    ("live, count", ["live", "live_*", "count", "count_*", "ranges"]),
    ("thread", ["thread", "ended_threads", "session", "library_function", "library_scope"]),
    ("core", ["sampler", "heap_sample", "common_case", "core", "got", "mark"]),
    (
        "scan",
        ["stop", "maps_known", "file_words", "allocator_memory", "thread_stacks", "roots", "frame_owner"]
        + ["holders", "flood", "settled_pages", "scan", "scan_*"],
    ),
    ("report", ["numbering", "writer", "report", "report_*", "copy", "checkpoint", "snapshot", "snapshot_request"]),
    ("hooks", ["hook_*", "init", "attach", "attach_*"]),
]

# Upward all the same, each with its reason.
EXCEPTIONS = {
    ("native/sys.c", "lock.h"): "the list of own memory has a lock, and locks sleep in a system call",
    ("native/site.c", "count.h"): "an old table may go at once as long as there never was a second thread",
    ("native/count.c", "thread.h"): "the counters of all threads are added up for a report",
    ("native/roots.c", "hook_thread.h"): "what a new thread was given is a root until it runs",
}

# What the command may know of the recorder.
SHARED_WITH_CLI = {
    "file_format.h",
    "options.def",
    "session.h",
    "text.h",
    "exec_look.h",
    "crc32.h",
    "snapshot_request.h",
    "attach_python.h",
}

# Which folders a folder may include from.
MAY_INCLUDE = {
    "native": {"native"},
    "gpu": {"gpu", "native"},
    "pyhooks": {"pyhooks", "native"},
    "cli": {"cli", "native"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def layer_of(stem):
    for rank, (_, patterns) in enumerate(LAYERS):
        if any(fnmatch.fnmatch(stem, pattern) for pattern in patterns):
            return rank
    return None


def find_included(includer, name):
    """The file that an include means: beside the includer, or in native/ (the only -I)."""
    for folder in (includer.parent, ROOT / "native"):
        path = (folder / name).resolve()
        if path.exists():
            return path.relative_to(ROOT)
    return None


def complaint_about(source, name):
    """One sentence on what is wrong with `source` including `name`, or None."""
    path = source.relative_to(ROOT)
    target = find_included(source, name)
    if target is None:
        return f"{path} includes {name}, which is not there"
    if target.parts[0] not in MAY_INCLUDE[path.parts[0]]:
        return f"{path} includes {target}: {path.parts[0]} must not know {target.parts[0]}"
    if path.parts[0] == "cli" and target.parts[0] == "native" and target.name not in SHARED_WITH_CLI:
        return f"{path} includes {target}: cli shares only {', '.join(sorted(SHARED_WITH_CLI))} with native"
    if path.parts[0] != "native" or (str(path), name) in EXCEPTIONS:
        return None
    own, other = layer_of(path.stem), layer_of(target.stem)
    if other is not None and own is not None and other > own:
        return f"{path} ({LAYERS[own][0]}) includes {name} ({LAYERS[other][0]}): upwards"
    return None


def main():
    complaints = []
    for folder in MAY_INCLUDE:
        for source in sorted((ROOT / folder).rglob("*.[ch]")):
            if folder == "native" and layer_of(source.stem) is None:
                complaints.append(f"{source.relative_to(ROOT)} has no layer in {Path(__file__).name}")
            names = INCLUDE.findall(source.read_text())
            complaints += filter(None, (complaint_about(source, name) for name in names))
    for complaint in complaints:
        print(f"include direction: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
