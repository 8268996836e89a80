"""Writes heaptide(1) from what `heaptide help` says: make_man.py HEAPTIDE OUT."""

import re
import subprocess
import sys
from pathlib import Path

HEAD = r"""
.SH NAME
heaptide \- memory profiler and leak finder for C, C++, Rust, Python and HIP programs
.SH SYNOPSIS
.B heaptide
.I COMMAND
.RI [ options ]
.SH DESCRIPTION
heaptide finds out where a program's memory goes: what it leaks, what keeps growing, who holds the peak, which lines
allocate most. Nothing is rebuilt, edited or installed in the traced program, and its children are traced too.
.PP
.B heaptide run
records,
.B heaptide report
shows.
"""
EXAMPLES = r"""
.SH EXAMPLES
.EX
heaptide run ./server --port 80
heaptide report
heaptide run --py python train.py
heaptide run --fail-on leaks -- ./tests
heaptide diff before after
.EE
.SH "SEE ALSO"
.BR llvm-symbolizer (1),
.BR valgrind (1),
.BR pprof (1)
"""


def asked(heaptide, *words):
    return subprocess.run([heaptide, *words], check=True, capture_output=True, text=True).stdout


def escaped(text):
    """Text as it stands: troff's backslashes and hyphens, and dots and quotes that begin a line."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text[:1] in (".", "'") else text


def paragraphs(lines):
    """Help text in troff: lines of two columns are tagged paragraphs, indented ones stand as they are."""
    out = []
    for index, line in enumerate(lines):
        entry = re.match(r"  (\S.*?)   *(\S.*)$", line)
        deeper = re.match(r" {6,}(\S.*)$", line)
        if not line:
            out.append(".PP")
        elif entry:
            out += [".TP", rf"\fB{escaped(entry[1])}\fR", escaped(entry[2])]
        elif deeper and index and lines[index - 1].startswith("  "):
            out.append(escaped(deeper[1]))
        elif line.startswith("  "):
            out += [".TP", rf"\fB{escaped(line.strip())}\fR"]
        else:
            out += ([".PP"] if index and lines[index - 1].startswith("  ") else []) + [escaped(line)]
    return out


def command_section(heaptide, name):
    usage, *rest = asked(heaptide, "help", name).splitlines()
    while rest and not rest[0]:
        rest = rest[1:]
    return [f'.SS "{name}"', rf"\fB{escaped(usage.removeprefix('usage: '))}\fR", ".PP", *paragraphs(rest)]


def topic_section(heaptide, name):
    return [f".SH {name.upper()}", *paragraphs(asked(heaptide, "help", name).splitlines())]


def page(heaptide):
    version = asked(heaptide, "--version").split()[1]
    lines = [f'.TH HEAPTIDE 1 "" "heaptide {version}"', *HEAD.strip().splitlines(), ".SH COMMANDS"]
    for name in asked(heaptide, "--list-commands").split():
        lines += command_section(heaptide, name)
    for name in asked(heaptide, "--list-topics").split():
        lines += topic_section(heaptide, name)
    lines += EXAMPLES.strip().splitlines()
    # No paragraph begins where another one, or a section, begins anyway.
    followed = zip(lines, [*lines[1:], ""])
    return [line for line, after in followed if line != ".PP" or not after.startswith((".PP", ".TP", ".S"))]


if __name__ == "__main__":
    Path(sys.argv[2]).write_text("\n".join(page(sys.argv[1])) + "\n")
