"""The machines that the GPU tests run on: the real HIP runtime above a stand-in for the kernel driver's library
(hsakmt/), and a stand-in for the runtime itself (simhip/)."""

import re
import shutil
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import program_build

TESTS = Path(__file__).resolve().parent
PROGRAMS = TESTS / "gpu"
HIP_TABLE = TESTS.parent / "gpu" / "hip_functions.def"
HEADERS = Path("/usr/include/hip/hip_runtime_api.h")
KMT_HEADERS = (Path("/usr/include/hsakmt.h"), Path("/usr/include/hsakmt/hsakmt.h"))


@cache
def real_runtime():
    """The environment in which the unmodified libamdhip64.so.5 finds a GPU made of host memory."""
    if not HEADERS.exists() or not any(path.exists() for path in KMT_HEADERS):
        pytest.skip("libamdhip64-dev and libhsakmt-dev are not installed (.ci/install test does it)")
    newer = KMT_HEADERS[1].exists()  # the thunk of ROCm 6, Debian 13
    script = TESTS / "hsakmt" / ("hsakmt6.map" if newer else "hsakmt.map")
    flags = ["-O2", "-fPIC", "-shared", "-pthread", "-Wl,-soname,libhsakmt.so.1", f"-Wl,--version-script={script}"]
    flags.append("-Wl,-z,nodelete")  # its thread may outlive a dlclose of what it serves
    if newer:
        flags += ["-DKMT6", "-I/usr/include/hsakmt"]
    source = TESTS / "hsakmt" / "fakehsakmt.c"
    folder = program_build._build_steps([("libhsakmt.so.1", source, [*flags, "-ldl"])], "gcc")
    return {"LD_LIBRARY_PATH": str(folder)}


@cache
def simulated(major=6):
    """The environment in which a program finds simhip as libamdhip64.so.MAJOR and as libamdhip64.so."""
    source = TESTS / "simhip" / "simhip.c"
    script = TESTS / "simhip" / "simhip.map"
    name = f"libamdhip64.so.{major}"
    flags = ["-O2", "-fPIC", "-shared", "-pthread", f"-DSIMHIP_MAJOR={major}", f"-Wl,-soname,{name}"]
    steps = [(name, source, [*flags, f"-Wl,--version-script={script}"])]
    hsa = TESTS / "simhip" / "simhsa.c"
    steps.append(("libhsa-runtime64.so", hsa, ["-O2", "-fPIC", "-shared"]))
    folder = program_build._build_steps(steps, "gcc")
    plain = folder / "libamdhip64.so"
    if not plain.exists():
        shutil.copy(folder / name, folder / f"copy-{name}")
        (folder / f"copy-{name}").rename(plain)
    return {"LD_LIBRARY_PATH": str(folder)}


def table_entries():
    """The entries of the recorder's table of functions: (kind, name, the rest of its text)."""
    table = re.sub(r"//.*", "", HIP_TABLE.read_text())
    # The first word of an entry starts a line, and so does the next entry's.
    entry = r"^(MAKES|FREES|LENDS|WATCHES|ENDS|SETTLES)\((\w+),(.*?)(?=^[A-Z]+\(|\Z)"
    return re.findall(entry, table, re.MULTILINE | re.DOTALL)


def called_functions(names):
    """The functions of HIP that programs here call."""
    called = set()
    for name in names:
        code = re.sub(r"//.*|^int hip.*", "", (PROGRAMS / name).read_text(), flags=re.MULTILINE)
        called |= set(re.findall(r"\b(hip\w+)\(", code))
    return called


@cache
def runtime_functions():
    """The functions that the system's libamdhip64.so.5 exports: {name: version}."""
    command = ["gcc", "-print-file-name=libamdhip64.so.5"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    command = ["nm", "-D", "--defined-only", "-j", path]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return {name.partition("@")[0]: name.rpartition("@")[2] for name in names}


def needs_runtime_5_2():
    """Debian 12's; what later ones of 5.x do in the same calls was not seen."""
    real_runtime()
    if "hip_5.3" in runtime_functions().values():
        pytest.skip("the HIP runtime is newer than 5.2")


def program(name, **how):
    return program_build.build(PROGRAMS / name, **how)


# Libraries that CuPy is linked with, and how their functions' names begin: it starts when they are there by name.
NAME_ONLY = {
    "libhipblas.so.3": "hipblas",
    "librocblas.so.5": "rocblas_",
    "librocsolver.so.0": "rocsolver_",
    "librocfft.so.0": "rocfft_",
    "libhipsparse.so.4": "hipsparse",
    "libhiprand.so.1": "hiprand",
    "libhipfft.so.0": "hipfft",
    "libroctracer64.so.4": "roctracer_",
    "libroctx64.so.4": "roctx",
    "librccl.so.1": "nccl",
}


def name_only_libraries(folder, extensions):
    """Builds into `folder` a library of each name, with every function that the extensions want of it and no more
    than that: each returns 0. Takes and returns an environment's search path."""
    folder.mkdir()
    names = set()
    for extension in extensions:
        wanted = subprocess.run(["nm", "-D", "--undefined-only", "-j", str(extension)], capture_output=True, text=True)
        names |= set(wanted.stdout.split())
    for library, start in NAME_ONLY.items():
        _name_only_library(folder / library, {name for name in names if name.startswith(start)})
    return str(folder)


def _name_only_library(path, names):
    """`names` may carry versions, as nm prints them: name@VERSION."""
    versions = defaultdict(list)
    for name in sorted(names):
        plain, _, version = name.partition("@")
        versions[version].append(plain)
    source, script = path.with_suffix(".c"), path.with_suffix(".map")
    every = [name for own in versions.values() for name in own]
    source.write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in every) or "int unused;\n")
    flags = ["-w", "-shared", "-fPIC", f"-Wl,-soname,{path.name}"]
    nodes = [f"{node} {{ global: {'; '.join(own)}; }};" for node, own in versions.items() if node]
    if nodes:
        script.write_text("\n".join(nodes))
        flags.append(f"-Wl,--version-script={script}")
    subprocess.run(["gcc", *flags, str(source), "-o", str(path)], check=True)
