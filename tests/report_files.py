"""Report files made for a test, by tests/unit/make_report.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "unit"))
import make_report  # noqa: E402

Report, file_bytes, DEMO_POINTS = make_report.Report, make_report.file_bytes, make_report.DEMO_POINTS


def folder_of(place, *datas):
    """A report folder with these files' bytes."""
    folder = place / "reports"
    folder.mkdir(exist_ok=True)
    for number, data in enumerate(datas, 1):
        (folder / f"heaptide.{number}.bin").write_bytes(data)
    return folder


def demo_folder(place):
    """One process that has something of everything."""
    return folder_of(place, make_report.demo().data(make_report.DEMO_POINTS, zstd=True))
