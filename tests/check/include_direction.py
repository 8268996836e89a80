"""Proves that includes only point down: docs/how-it-works.md says why each part may know what."""

import fnmatch
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# native/, from the bottom up. A file may include its own layer and those below it.
LAYERS = [
    ("words", ["words", "file_format", "options", "hooks", "rules"]),
    ("sys", ["sys", "text"]),
    ("lock", ["lock"]),
    ("thread", ["thread"]),
    ("stacks", ["cfi", "unwind", "stack_*", "modules", "module_*"]),
    ("site, live, count", ["site", "live", "live_*", "count", "count_*", "ranges"]),
    ("core", ["core", "session"]),
    ("report", ["sampler", "stop", "roots", "scan", "scan_*", "holders", "snapshot", "writer", "writer_*"]),
    ("hooks", ["hook_*", "init"]),
]

# Upward all the same, each with its reason.
EXCEPTIONS = {
    ("native/sys.c", "lock.h"): "the list of own memory has a lock, and locks sleep in a system call",
    ("native/thread.h", "stack_memo.h"): "the thread's one struct holds its last stack",
    ("native/thread.h", "count.h"): "the thread's one struct holds its counters",
}

# What the command may know of the recorder.
SHARED_WITH_CLI = {"file_format.h", "options.def", "session.h", "text.h"}

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
