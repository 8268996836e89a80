"""Proves with `nm` what the recorder's objects import: python hook_imports.py OBJECT...

Objects of hooks import only the recorder's own functions and what hook_imports.txt lists; objects of native/
import nothing that gpu/ or pyhooks/ define, and these two nothing of each other.
"""

import subprocess
import sys
from pathlib import Path

ALLOWED_FILE = Path(__file__).with_name("hook_imports.txt")
STRANGERS = {"native": ["gpu", "pyhooks"], "gpu": ["pyhooks"], "pyhooks": ["gpu"]}


def symbols(object_file, *options):
    """Names of the symbols of an object that `nm` lists under `options`, versions cut off."""
    command = ["nm", "-j", *options, str(object_file)]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return {name.split("@")[0] for name in names}


def read_allowed():
    """From the stem of an object's name, or `*`, to the names that it may import."""
    allowed = {"*": set()}
    for line in ALLOWED_FILE.read_text().splitlines():
        if line and not line.startswith("#"):
            stem, names = line.split(":")
            allowed.setdefault(stem, set()).update(names.split())
    return allowed


def main(paths):
    objects = {folder: [Path(path) for path in paths if Path(path).parent.name == folder] for folder in STRANGERS}
    defined = {folder: set() for folder in STRANGERS}
    for folder, files in objects.items():
        for file in files:
            defined[folder] |= symbols(file, "--defined-only", "--extern-only")

    own = set().union(*defined.values())
    allowed = read_allowed()
    complaints = []
    for folder, files in objects.items():
        foreign = set().union(*(defined[stranger] for stranger in STRANGERS[folder]))
        for file in files:
            imported = symbols(file, "--undefined-only")
            complaints += [f"{folder}/{file.stem} uses {name}" for name in sorted(imported & foreign)]
            if file.stem.startswith("hook_"):
                rest = imported - own - allowed["*"] - allowed.get(file.stem, set())
                complaints += [f"{folder}/{file.stem} imports {name}" for name in sorted(rest)]
    for complaint in complaints:
        print(f"hook imports: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
