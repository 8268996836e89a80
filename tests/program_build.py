"""Builds the small C and C++ programs of the tests, once each.

A build is kept under build/tests/ by a hash of everything that goes into it, so that a second run of the suite and
parallel workers share it.
"""

import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent
REPOSITORY = TESTS.parent
CACHE = Path(os.environ.get("HEAPTIDE_TEST_BUILD", REPOSITORY / "build" / "tests"))
BUILD_SECONDS = 120

COMPILERS = {("gcc", ".c"): "gcc", ("gcc", ".cc"): "g++", ("clang", ".c"): "clang", ("clang", ".cc"): "clang++"}
CLANG_VERSIONS = range(14, 31)
# Warnings of the programs are theirs (many misuse the allocator on purpose). The allocator's calls must stay calls:
# even at -O0 clang may drop a malloc whose result nobody reads, and gcc may fold it.
COMMON_FLAGS = ["-w", "-fno-builtin"]


@functools.cache
def clang_suffix():
    """What follows the names clang and clang++: of the newest one that has LeakSanitizer's runtime (.ci/install)."""
    for suffix in ["", *(f"-{version}" for version in reversed(CLANG_VERSIONS))]:
        if not shutil.which(f"clang++{suffix}"):
            continue
        command = [f"clang{suffix}", "-print-file-name=libclang_rt.lsan-x86_64.a"]
        if Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()).is_file():
            return suffix
    raise AssertionError("no clang with LeakSanitizer's runtime is here; .ci/install test gets one")


def compiler_for(source, family):
    name = COMPILERS[family, source.suffix] + (clang_suffix() if family == "clang" else "")
    return [name, "-g", "-O0", *COMMON_FLAGS]


def directives(source, word):
    """The texts of the source's comment lines `// word: text`."""
    return re.findall(rf"^// {word}: (.*?)\s*$", source.read_text(), re.MULTILINE)


def build(source, *, family="gcc", flags=(), libraries=None, texts=None):
    """Builds one program and what its `// build:` and `// build-library:` lines ask for; returns its path.

    `libraries`, {file name: flags}, are built from the same source and stand beside the program.

    // build: FLAGS                      more flags for the program
    // build-library: FILE.so FLAGS      first build this file, with these flags, into a library beside the program
    // build-library: FILE.so OTHER.c FLAGS   ... from another source in the same folder

    `{out}` in flags stands for the folder that holds the program, and each key of `texts` for its value.
    """
    source = Path(source).resolve()
    name = source.stem
    steps = [(library, source, ["-shared", "-fPIC", *words]) for library, words in (libraries or {}).items()]
    for text in directives(source, "build-library"):
        library, *words = text.split()
        library_source = source
        if words and words[0].endswith((".c", ".cc")):
            library_source = source.parent / words.pop(0)
        steps.append((library, library_source, ["-shared", "-fPIC", *words]))
    own_flags = [flag for text in directives(source, "build") for flag in text.split()]
    steps.append((name, source, [*own_flags, *flags]))
    for word, value in (texts or {}).items():
        steps = [(output, of, [flag.replace(word, value) for flag in own]) for output, of, own in steps]
    return _build_steps(steps, family) / name


def sources_included(source):
    """Other programs that it is made from."""
    return [source.parent / name for name in re.findall(r'^#include "(.*\.cc?)"', source.read_text(), re.MULTILINE)]


def _build_steps(steps, family):
    digest = hashlib.sha256()
    for output, source, flags in steps:
        digest.update(repr((output, source.name, compiler_for(source, family), flags)).encode())
        digest.update(source.read_bytes())
    included = {path for _, source, _ in steps for path in (*source.parent.glob("*.h"), *sources_included(source))}
    for path in sorted(included):
        digest.update(path.read_bytes())
    folder = CACHE / digest.hexdigest()[:16]
    if folder.is_dir():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=CACHE, prefix="building-"))
    try:
        for output, source, flags in steps:
            _compile(source, scratch / output, flags, family, scratch)
        # Whoever renames first wins; both built the same.
        try:
            scratch.rename(folder)
        except OSError:
            assert folder.is_dir()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


def _compile(source, output, flags, family, scratch):
    flags = [flag.replace("{out}", str(scratch)) for flag in flags]
    before = [flag for flag in flags if not flag.startswith("-l")]
    libraries = [flag for flag in flags if flag.startswith("-l")]
    command = [*compiler_for(source, family), *before, str(source), "-o", str(output), *libraries]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
