"""Puts pages' scripts and styles into their HTML, and that into a C file: inline.py OUT.c page.html diff.html

page.html becomes the texts page_before_data and page_after_data. In it, `<!-- style FILE -->` and `<!-- scripts FILE
FILE ... -->` stand for files beside it. The scripts become one function, so that nothing of theirs is global: each file
is one `const`, made from those before it. What heaptide writes into the page goes where `<!-- data -->` stands.
"""

import re
import sys
from pathlib import Path

LINE_BYTES = 24


def page_of(template):
    """The whole page, with the mark for the data still in it."""

    def style(match):
        return f"<style>\n{(template.parent / match[1]).read_text()}</style>"

    def scripts(match):
        sources = [(template.parent / name).read_text() for name in match[1].split()]
        return '<script>\n(() => {\n"use strict";\n' + "\n".join(sources) + "})();\n</script>"

    page = re.sub(r"<!-- style (\S+) -->", style, template.read_text())
    return re.sub(r"<!-- scripts ((?:\S+\s+)+)-->", scripts, page)


def c_array(name, text):
    data = text.encode() + b"\0"
    rows = (data[at : at + LINE_BYTES] for at in range(0, len(data), LINE_BYTES))
    body = ",\n".join(", ".join(map(str, row)) for row in rows)
    return f"const char {name}[] = {{\n{body}}};\n"


def page_arrays(template):
    parts = zip(("before_data", "after_data"), page_of(template).split("<!-- data -->"))
    arrays = {f"{template.stem}_{part}": text for part, text in parts}
    names = ", ".join(f"{name}[]" for name in arrays)
    return f"extern const char {names};\n" + "\n".join(c_array(name, text) for name, text in arrays.items())


def main():
    arrays = "\n".join(page_arrays(Path(template)) for template in sys.argv[2:])
    Path(sys.argv[1]).write_text(f"// Made by cli/page/inline.py.\n{arrays}")


if __name__ == "__main__":
    main()
