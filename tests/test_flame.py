"""`heaptide flame` as a command: where the page goes, what it says, how it ends."""

import os
import stat

import pytest

from heaptide_run import command
from report_files import demo_folder


@pytest.fixture
def folder(tmp_path):
    return demo_folder(tmp_path)


def test_the_page_goes_beside_the_folder(folder):
    done = command("flame", f"{folder}/")
    page = folder.parent / "reports.html"
    assert done.status == 0 and page.read_bytes().startswith(b"<!doctype html>"), done.describe()
    assert done.own_stderr == [f"heaptide: 1 process -> {page}"] and done.stdout == b""
    assert sorted(path.name for path in folder.parent.iterdir()) == ["reports", "reports.html"]


def test_of_the_folder_that_one_is_in(folder):
    done = command("flame", ".", cwd=folder)
    assert done.status == 0 and (folder.parent / "reports.html").exists(), done.describe()


def test_the_newest_folder_is_taken(tmp_path):
    demo_folder(tmp_path).rename(tmp_path / "heaptide.demo.1")
    done = command("flame", cwd=tmp_path)
    assert done.status == 0 and (tmp_path / "heaptide.demo.1.html").exists(), done.describe()
    assert "heaptide.demo.1 is the newest folder here" in done.stderr
    # The page itself is not taken for a report folder.
    assert command("report", "--fail-on", "none", cwd=tmp_path).status == 0


def test_stdout(folder, tmp_path):
    done = command("flame", folder, "-o", "-")
    assert done.status == 0 and done.stdout.startswith(b"<!doctype html>") and done.stderr == ""


def test_the_same_page_each_time(folder):
    """Nothing of the day or of chance is in it."""
    assert command("flame", folder, "-o", "-").stdout == command("flame", folder, "-o", "-").stdout


def test_nothing_is_fetched(folder):
    """Not one address is in the page but the name of SVG's language."""
    page = command("flame", folder, "-o", "-").stdout.decode()
    assert page.count("http") - page.count('http-equiv="') == page.count("http://www.w3.org/2000/svg") == 1


def test_open_hands_the_page_to_xdg_open(folder, tmp_path):
    tool = tmp_path / "bin" / "xdg-open"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho noise\necho "$1" > {tmp_path}/opened\n')
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    done = command("flame", folder, "--open", env={"PATH": f"{tool.parent}:{os.environ['PATH']}"})
    assert done.status == 0 and done.stdout == b"", done.describe()
    assert (tmp_path / "opened").read_text().strip() == str(folder.parent / "reports.html")


def test_open_without_a_browser_says_so(folder, tmp_path):
    done = command("flame", folder, "--open", env={"PATH": str(tmp_path)})
    assert done.status == 2 and (folder.parent / "reports.html").exists()
    assert done.own_stderr[-1] == "heaptide: --open: xdg-open showed no page; open the file in a browser"


def assert_refused(done, *words):
    assert done.status == 2 and done.stdout == b"", done.describe()
    (line,) = done.stderr.splitlines()
    assert line.startswith("heaptide: ") and all(word in line for word in words), line


def test_no_place_for_the_page(folder, tmp_path):
    assert_refused(command("flame", folder, "-o", tmp_path / "no" / "x.html"), "No such file", "-o")
    (tmp_path / "taken.html").mkdir()
    assert_refused(command("flame", folder, "-o", tmp_path / "taken.html"), "directory", "-o")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reports", "taken.html"]


def test_bad_words(folder, tmp_path):
    assert_refused(command("flame", tmp_path / "none"), "none", "No such file")
    assert_refused(command("flame", folder, folder), "more than one folder")
    assert_refused(command("flame", folder, "--fail-on", "any"), "unknown option")
    assert_refused(command("flame", folder, "-o"), "value is missing")


def test_disk_full(folder):
    done = command("flame", folder, "-o", "-", stdout=open("/dev/full", "wb"))  # noqa: SIM115
    assert_refused(done, "stdout", "No space left")


def test_a_damaged_file_is_left_out_and_told(folder):
    (folder / "heaptide.2.bin").write_bytes(b"HEAPTIDE damaged")
    done = command("flame", folder)
    assert done.status == 2 and (folder.parent / "reports.html").exists()
    assert "heaptide.2.bin" in done.stderr and len(done.own_stderr) == 2
