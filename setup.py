"""Builds the recorder and the command with make and lays them where `heaptide` looks for them:
bin/heaptide, lib/heaptide/libheaptide.so and, when `make wheel` packs, what it put into build/bundle."""

import os
import subprocess
from glob import glob
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

os.chdir(Path(__file__).parent)
# Where setuptools leaves its own traces: below make's folder, out of the source tree.
SCRATCH = Path("build/setuptools")
SCRATCH.mkdir(parents=True, exist_ok=True)


class MakeFirst(build_py):
    """Compiles before anything is packed."""

    def run(self):
        jobs = len(os.sched_getaffinity(0))
        subprocess.run(["make", f"-j{jobs}", "all"], check=True)
        super().run()


class AnyPythonWheel(bdist_wheel):
    """One wheel for every CPython 3: nothing in it is linked with libpython."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(
    cmdclass={"build_py": MakeFirst, "bdist_wheel": AnyPythonWheel},
    data_files=[
        ("bin", ["build/heaptide"]),
        ("lib/heaptide", ["build/libheaptide.so", *glob("build/bundle/*.so*")]),
        ("include", ["include/heaptide.h"]),
        ("share/man/man1", ["build/heaptide.1"]),
        ("share/bash-completion/completions", ["cli/completion/bash/heaptide"]),
        ("share/zsh/site-functions", ["cli/completion/zsh/_heaptide"]),
        ("share/doc/heaptide", glob("build/bundle/*.copyright")),
    ],
    options={
        "build": {"build_base": str(SCRATCH)},
        "egg_info": {"egg_base": str(SCRATCH)},
    },
)
