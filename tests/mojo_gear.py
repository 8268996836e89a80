"""Mojo programs of the tests, built once each. Mojo comes into the tests' environment by requirements-mojo.txt."""

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

import program_build

PROGRAMS = Path(__file__).resolve().parent / "mojo"
COMPILE_SECONDS = 180


def is_installed(distribution):
    """By its metadata: Mojo's modules are namespace packages, and the folder tests/mojo looks like one too."""
    try:
        return bool(importlib.metadata.version(distribution))
    except importlib.metadata.PackageNotFoundError:
        return False


def compiler(*, max_core=False):
    """The `mojo` command beside this Python."""
    for distribution in ["mojo", *(["max-core"] if max_core else [])]:
        if not is_installed(distribution):
            pytest.skip("Mojo is not installed (`make test` installs it, `make test QUICK=1` leaves it out)")
    return Path(sys.executable).with_name("mojo")


def version():
    """What a build depends on besides its source."""
    return importlib.metadata.version("mojo")


@cache
def build(name, *flags, max_core=False):
    """Builds tests/mojo/NAME.mojo with lines and returns the program, or the library with --emit shared-lib."""
    mojo = compiler(max_core=max_core)
    source = PROGRAMS / f"{name}.mojo"
    depends_on = repr((version(), str(mojo), str(source), flags)).encode() + source.read_bytes()
    folder = program_build.CACHE / f"mojo-{hashlib.sha256(depends_on).hexdigest()[:16]}"
    if not folder.is_dir():
        program_build.CACHE.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=program_build.CACHE, prefix="building-"))
        command = [mojo, "build", "-g1", *flags, source, "-o", scratch / name]
        # Its cache goes by the meaning of the code: lines and folders would be those of an earlier copy.
        environment = {**os.environ, "XDG_CACHE_HOME": str(scratch / "cache")}
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS, env=environment)
        shutil.rmtree(scratch / "cache", ignore_errors=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        try:
            scratch.rename(folder)  # whoever comes first wins; both built the same
        except OSError:
            shutil.rmtree(scratch)
    return folder / name
