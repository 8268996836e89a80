"""The CPythons that tests run on: whatever this machine has of 3.9 to 3.14."""

import os
from pathlib import Path

VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
# Where .ci/interpreters puts what no distribution of this machine has.
EXTRA = Path(os.environ.get("HEAPTIDE_INTERPRETERS", Path(__file__).resolve().parent.parent / "build" / "interpreters"))


def _found():
    for version in VERSIONS:
        for path in (*PYENV.glob(f"versions/{version}.*/bin/python3"), *EXTRA.glob(f"{version}*/bin/python3")):
            yield version, path
    if Path("/usr/bin/python3").exists():
        yield "system", Path("/usr/bin/python3")


PYTHONS = dict(_found())
