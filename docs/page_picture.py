"""Makes docs/page.png again: the page of examples/train.py, in light colours, 1280 x 800.

    python docs/page_picture.py [HEAPTIDE]      (default build/heaptide)

Needs numpy and playwright, and the machine's Chromium.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).resolve().parent
SIZE = {"width": 1280, "height": 800}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def page_make(heaptide, place):
    """Records the example in a folder of its own, so that no path of this machine is in the picture."""
    (place / "examples").mkdir()
    shutil.copy(DOCS.parent / "examples" / "train.py", place / "examples")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    recording = [heaptide, "run", "-q", "--py", "--py-depth", "8", "--out", "train", "python", "examples/train.py"]
    for words in (recording, [heaptide, "flame", "train", "-o", "train.html"]):
        subprocess.run(words, cwd=place, env={**os.environ, "PATH": path}, check=True)
    return place / "train.html"


def picture_take(page, out):
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
        tab.goto(f"{page.as_uri()}#m=live&t=python")
        tab.wait_for_selector("html[data-ready]")
        tab.locator("#table-body .row", has_text="Snapshot").first.click()
        tab.mouse.move(640, 780)
        tab.screenshot(path=out)
        browser.close()


def main():
    heaptide = Path(sys.argv[1] if len(sys.argv) > 1 else DOCS.parent / "build" / "heaptide").resolve()
    with tempfile.TemporaryDirectory(prefix="train.") as place:
        picture_take(page_make(heaptide, Path(place)), DOCS / "page.png")


if __name__ == "__main__":
    main()
