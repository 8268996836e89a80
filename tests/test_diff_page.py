"""The page of `heaptide diff --html`, in the machine's Chromium."""

import csv
import json
from pathlib import Path

import pytest

from heaptide_run import command
from page_browser import NARROW
from report_files import Report

KIB = 1024
# function: (leaked, live, peak) in KiB, before and after
SITES = {
    "stays": ((0, 10, 10), (0, 10, 10)),
    "comes": ((0, 0, 0), (30, 30, 30)),
    "goes": ((50, 50, 50), (0, 0, 0)),
    "grows": ((0, 100, 100), (0, 300, 300)),
    "shrinks": ((0, 400, 400), (0, 100, 100)),
}


def made_report(side, names=SITES, **process):
    report = Report(**process)
    for number, (name, figures) in enumerate(names.items()):
        leaked, live, peak = (size * KIB for size in figures[side])
        if not peak:
            continue
        line = number + 1 + 10 * side  # the code has moved
        stack = report.stack(("python", name, "/opt/x.py", line), ("python", "main", "/opt/x.py", 1))
        site = report.site(stack, calls=(number + 1, 0, 0, peak), live=(live, 1), peak=(peak, 1))
        if leaked:
            report.leak(site, direct=(leaked, 1))
    return report


def made_folder(folder, *reports):
    folder.mkdir()
    for number, report in enumerate(reports, 1):
        (folder / f"heaptide.{number}.bin").write_bytes(report.data())
    return folder


@pytest.fixture
def folders(tmp_path):
    return [made_folder(tmp_path / name, made_report(side)) for side, name in enumerate(("base", "new"))]


@pytest.fixture
def page(folders, tmp_path, show):
    def open_page(state=None, **context):
        out = tmp_path / "diff.html"
        done = command("diff", *folders, "--html", out)
        assert done.status == 1 and str(out) in done.stderr, done.describe()
        return show(out, json.dumps(state) if state else "", **context)

    return open_page


def boxes(shown):
    """{function: [depth, width, base, new, colour]} of the graph."""
    return shown.js("""() => { const found = {};
      const take = (box) => {
        found[heaptidePage.tree.nameOf(box)] = [box.depth, box.value, box.base, box.now, heaptidePage.colorOf(box)];
        heaptidePage.tree.childrenOf(box).forEach(take);
      };
      take(heaptidePage.root());
      return found; }""")


def hue(color):
    return int(color.split("(")[1].split()[0])


def test_vanished_stacks_stay_visible(page):
    found = boxes(page({"figure": 1}))
    by_function = {name.removeprefix("x.py:"): box for name, box in found.items()}
    assert {name: (box[2] // KIB, box[3] // KIB) for name, box in by_function.items() if name in SITES} == {
        name: (before[1], after[1]) for name, (before, after) in SITES.items()
    }
    depth, width, base, new, color = by_function["goes"]
    assert (depth, width, base, new, hue(color)) == (2, 50 * KIB, 50 * KIB, 0, 214)
    assert hue(by_function["comes"][4]) == hue(by_function["grows"][4]) == 6
    assert hue(by_function["shrinks"][4]) == 214 and hue(by_function["stays"][4]) == 215
    assert by_function["all"][1] == (10 + 30 + 50 + 300 + 400) * KIB


def test_changed_only_leaves_the_rest_out(page):
    by_function = boxes(page({"figure": 1, "changedOnly": True}))
    assert "x.py:stays" not in by_function and by_function["x.py:grows"][1] == 200 * KIB
    assert by_function["all"][1] == (30 + 50 + 200 + 300) * KIB


def test_inverted_has_the_allocating_function_at_the_root(page):
    by_function = boxes(page({"figure": 1, "inverted": True}))
    assert by_function["x.py:goes"][0] == 1 and by_function["x.py:main"][0] == 2


def changes(shown):
    return [line.split("\n")[:2] for line in shown.tab.locator(".change").all_inner_texts()]


def test_each_change_is_listed_as_the_json_has_it(page, folders):
    shown = page()
    (pair,) = map(json.loads, command("diff", *folders, "--json").stdout.splitlines())
    assert [word for word, _ in changes(shown)] == [change["change"].upper() for change in pair["changes"]]
    assert [value for _, value in changes(shown)] == ["+30.0 KiB", "+200 KiB", "−50.0 KiB", "−300 KiB"]
    assert shown.js("() => heaptidePage.view.get().figure") == 0  # what leaked has changed: it comes first
    tiles = shown.tab.locator(".tile").all_inner_texts()
    assert tiles[0].split("\n") == ["Leaked", "−20.0 KiB", "50.0 KiB → 30.0 KiB"]


def box_middle(shown, name):
    """Where a box lies in the window."""
    return shown.js(
        """name => {
          const area = document.getElementById("flame").getBoundingClientRect();
          const width = area.width, root = heaptidePage.root();
          const seek = (box, x) => {
            if (heaptidePage.tree.nameOf(box) === name)
              return [area.left + x + box.value / root.value * width / 2, area.top + box.depth * 19 + 9];
            for (const child of heaptidePage.tree.childrenOf(box)) {
              const found = seek(child, x);
              if (found) return found;
              x += child.value / root.value * width;
            }
            return null;
          };
          return seek(root, 0);
        }""",
        name,
    )


def test_mouse(page):
    shown = page({"figure": 1})
    shown.tab.mouse.move(*box_middle(shown, "x.py:grows"))
    assert "100 KiB → 300 KiB" in shown.text("#tip") and "+200 KiB" in shown.text("#details")
    shown.tab.mouse.click(*box_middle(shown, "x.py:goes"))
    assert shown.text("#crumbs").split("›")[-1].strip() == "x.py:goes" and shown.js("() => history.length") > 1
    shown.tab.go_back()
    assert shown.text("#crumbs").startswith("all ") and "goes" not in shown.text("#crumbs")
    shown.tab.locator(".change").nth(2).click()
    assert shown.js("() => heaptidePage.view.get().figure") == 0 and "x.py:goes" in shown.text("#details h2")
    assert shown.tab.locator(".change[aria-selected=true]").get_attribute("data-change") == "gone"


def test_keyboard_alone(page):
    shown = page()
    state = lambda: shown.js("() => heaptidePage.view.get()")  # noqa: E731
    shown.keys("2")
    assert state()["figure"] == 1
    shown.keys("ArrowDown", "ArrowDown", "ArrowRight")
    assert "x.py:grows" in shown.text("#details h2")
    shown.keys("Enter")
    assert len(state()["zoom"]) == 2
    shown.keys("o", "c", "v")
    assert state()["changedOnly"] and state()["inverted"] and state()["zoom"] == []
    shown.keys("/")
    shown.tab.keyboard.type("gro")
    assert state()["search"] == "gro" and "200 KiB" in shown.text("#search-result")
    shown.keys("Escape", "Escape")
    assert state()["search"] == ""
    shown.keys("d")
    assert state()["theme"] == "light"
    shown.keys("?")
    assert "zoom out" in shown.text("dialog[open]")
    shown.keys("Escape", "n")
    assert "Nothing to note" in shown.text("dialog[open]")


def test_the_address_opens_the_same_view(page, show):
    shown = page()
    shown.keys("2", "c", "ArrowDown", "ArrowDown")
    again = show(shown.file, shown.fragment())
    state = "() => heaptidePage.view.get()"
    assert again.js(state) == shown.js(state) and again.text("#details h2") == shown.text("#details h2")


@pytest.mark.parametrize("fragment", ["%", "[]", '{"figure": 99, "zoom": "x", "pin": {}, "theme": 1}', "null", "1"])
def test_a_fragment_of_nonsense_does_no_harm(page, show, fragment):
    assert show(page().file, fragment).js("() => heaptidePage.view.get().figure") == 0


@pytest.mark.parametrize("context", [{"color_scheme": "dark"}, {"viewport": NARROW}])
def test_dark_and_narrow(page, context):
    shown = page({"figure": 1}, **context)
    dark = context.get("color_scheme") == "dark"
    assert shown.js("() => document.documentElement.dataset.theme") == ("dark" if dark else "light")
    lightness = [float(box[4].split("%)")[0].split()[-1].rstrip("%")) for box in boxes(shown).values()]
    assert all((value < 50) == dark for value in lightness)
    assert shown.js("() => document.documentElement.scrollWidth <= innerWidth")


def test_exports(page):
    shown = page()
    with shown.tab.expect_download() as download:
        shown.keys("e", "c")
    rows = list(csv.reader(Path(download.value.path()).read_text().splitlines()))
    assert rows[1] == ["new", "leaked", "heap", "0", str(30 * KIB), str(30 * KIB), "x.py:comes < x.py:main"]
    for key, start in (("s", b"<svg"), ("p", b"\x89PNG"), ("c", b"change,")):
        with shown.tab.expect_download() as download:
            shown.keys("e", key)
        assert Path(download.value.path()).read_bytes().startswith(start)


def test_several_processes_and_awkward_names(tmp_path, show):
    names = {"<script>alert(1)</script>": ((0, 1, 1), (0, 99, 99)), "</script><b>": ((0, 0, 0), (0, 9, 9)),
             "std::" + "pair<" * 900: ((0, 5, 5), (0, 0, 0))}  # fmt: skip
    folders = []
    for side, name in enumerate(("base", "new")):
        reports = [made_report(side, names, pid=pid, argv=[f"./<i>{pid}"], flags=17 - pid // 2) for pid in (1, 2)]
        folders.append(made_folder(tmp_path / name, *reports))
    out = tmp_path / "diff.html"
    assert command("diff", *folders, "--html", out).status == 1
    shown = show(out, json.dumps({"figure": 1}))
    whole = boxes(shown)["all"]
    assert "x.py:<script>alert(1)</script>" in boxes(shown) and shown.tab.locator("b", has_text="<script>").count() == 0
    shown.tab.select_option("#pair", "1")
    assert boxes(shown)["all"][1] * 2 == whole[1] and len(changes(shown)) == 3


def test_html_beside_the_other_output(folders, tmp_path):
    plain, out = command("diff", *folders), tmp_path / "x.html"
    both = command("diff", *folders, "--html", out)
    assert both.stdout == plain.stdout and both.status == plain.status == 1
    only = command("diff", *folders, "--html", "-")
    assert only.stdout == out.read_bytes() and only.stderr == "" and only.status == 1
    bad = command("diff", *folders, "--html", tmp_path / "no" / "x.html")
    assert bad.status == 2 and len(bad.stderr.splitlines()) == 1


def marked_folder(folder, **growths):
    """Three marks of each name, live memory growing by that much from one to the next."""
    report = made_report(0)
    for number in range(3):
        for name, each in growths.items():
            report.mark(name, 10**8 * (number + 1), 9000 + each * number)
    return made_folder(folder, report)


def test_marks_of_both(tmp_path, show):
    """As diff --json has them, by mouse and by keyboard."""
    folders = [
        marked_folder(tmp_path / "base", same=1000, more=1000, gone=512),
        marked_folder(tmp_path / "new", same=1000, more=5096, **{"<b>new</b>": -300}),
    ]
    out = tmp_path / "diff.html"
    (pair,) = map(json.loads, command("diff", *folders, "--html", out, "--json").stdout.splitlines())
    shown = show(out)
    shown.tab.locator("[data-list=marks]").click()
    lines = [line.split("\n") for line in shown.tab.locator(".mark").all_inner_texts()]
    assert [line[-2] for line in lines] == [mark["name"] for mark in pair["marks"]]
    assert ["+4.00 KiB", "more", "+1000 B each, 3 times → +4.98 KiB each, 3 times"] in lines
    assert ["NEW", "<b>new</b>", "not there → −300 B each, 3 times"] in lines
    assert ["GONE", "gone", "+512 B each, 3 times → not there"] in lines and len(lines) == 4
    shown.keys("t")
    assert not shown.tab.locator("#marks").is_visible() and shown.tab.locator("#changes").is_visible()
    shown.keys("t")
    with shown.tab.expect_download() as download:
        shown.keys("e", "m")
    rows = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert [(row["mark"], row["difference"]) for row in rows][:2] == [("same", "0"), ("more", "4096")]
    assert show(out, shown.fragment()).tab.locator("#marks").is_visible()
