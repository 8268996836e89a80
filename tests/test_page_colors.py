"""Colours of the pages, light and dark, as people see them who are blind to one of red, green and blue."""

import itertools
import json

import pytest

from color_vision import contrast, delta_e, least_difference
from heaptide_run import command
from page_browser import page_write
from report_files import demo_folder
from test_diff_page import made_folder, made_report

TEXT_CONTRAST = 4.5  # WCAG 2.2, 1.4.3
GRAPHIC_CONTRAST = 3  # WCAG 2.2, 1.4.11
KIND_DIFFERENCE = 15  # CIEDE2000: areas and swatches, apart from one another
BOX_DIFFERENCE = 8  # boxes, of any two shades; the weakest of a diff too
SAME_DIFFERENCE = 4  # the weakest change beside none
SCHEMES = ["light", "dark"]

RGB = """colors => {
  const probe = document.body.appendChild(document.createElement("i"));
  const read = (color) => {
    probe.style.color = "";
    probe.style.color = color;
    return getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(Number);
  };
  const found = Object.fromEntries(Object.entries(colors).map(([name, color]) => [name, read(color)]));
  probe.remove();
  return found;
}"""


def rgb_of(shown, expression):
    """{name: [red, green, blue]} of an object of CSS colours."""
    return shown.js(RGB, shown.js(expression))


# Of table I of the paper by Sharma, Wu and Dalal.
@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1, 2), (50, 0, 0), 2.3669),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (50, 3.2592, 0.3350), 1.0000),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
    ],
)
def test_the_formula(one, other, difference):
    assert delta_e(one, other) == pytest.approx(difference, abs=5e-5)
    assert delta_e(other, one) == pytest.approx(difference, abs=5e-5)


def test_what_is_told_apart_by_nobody():
    red, green = (200, 60, 40), (90, 110, 40)
    assert least_difference(red, green)[1] in ("protanopia", "deuteranopia")
    assert least_difference((255, 255, 255), (0, 0, 0))[0] > 90
    assert contrast((255, 255, 255), (0, 0, 0)) == pytest.approx(21)


def close_pairs(colors, least):
    """What stands too near to one another: (name, name, difference, vision)."""
    found = [(a, b, *least_difference(colors[a], colors[b])) for a, b in itertools.combinations(colors, 2)]
    return [(a, b, round(difference, 1), vision) for a, b, difference, vision in found if difference < least]


def too_faint(colors, other, least):
    """{name: contrast} of those that stand out too little from another colour."""
    found = {name: round(contrast(color, other), 2) for name, color in colors.items()}
    return {name: ratio for name, ratio in found.items() if ratio < least}


@pytest.fixture(params=SCHEMES)
def demo(tmp_path, show, request):
    return show(page_write(demo_folder(tmp_path), tmp_path / "page.html"), color_scheme=request.param)


def test_kinds_are_told_apart(demo):
    """In the timeline, the tables and the filters; and each from what lies behind it."""
    kinds = rgb_of(
        demo,
        """() => { const { data, theme } = heaptidePage;
          const kinds = Object.keys(data().processes[0].summary.by_kind);
          return Object.fromEntries(kinds.map((kind) => [kind, theme.kind(kind)])); }""",
    )
    assert len(kinds) == 6 and close_pairs(kinds, KIND_DIFFERENCE) == []
    (back,) = rgb_of(demo, "() => ({ back: heaptidePage.theme.now().back })").values()
    assert too_faint(kinds, back, GRAPHIC_CONTRAST) == {}


def test_boxes_are_told_apart_and_read(demo):
    """Of any two categories of the legend, in each of their shades; the text on them in each."""
    shades = rgb_of(
        demo,
        """() => Object.fromEntries(Object.keys(heaptidePage.theme.CATEGORIES).flatMap((name) =>
             [0, 1, 2, 3].map((number) => [`${name} ${number}`, heaptidePage.theme.box(name, number)])))""",
    )
    (text,) = rgb_of(demo, "() => ({ text: heaptidePage.theme.now().box })").values()
    assert too_faint(shades, text, TEXT_CONTRAST) == {}
    legend = {name: color for name, color in shades.items() if name.split()[0] not in ("root", "other")}
    assert len({tuple(color) for color in legend.values()}) == 24
    near = [pair for pair in close_pairs(legend, BOX_DIFFERENCE) if pair[0].split()[0] != pair[1].split()[0]]
    assert near == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_added_and_gone_are_told_apart(tmp_path, show, scheme):
    folders = [made_folder(tmp_path / name, made_report(side)) for side, name in enumerate(("base", "new"))]
    assert command("diff", *folders, "--html", tmp_path / "diff.html").status == 1
    shown = show(tmp_path / "diff.html", json.dumps({"figure": 1}), color_scheme=scheme)
    colors = rgb_of(
        shown,
        """() => Object.fromEntries([1, 2, 3, 4, 5, 6].flatMap((step) => [
             [`added ${step}`, heaptidePage.colorOf({ base: 60 - 10 * step, now: 60 })],
             [`gone ${step}`, heaptidePage.colorOf({ base: 60, now: 60 - 10 * step })]])
           .concat([["same", heaptidePage.colorOf({ base: 60, now: 60 })], ["text", heaptidePage.theme.now().box]]))""",
    )
    text = colors.pop("text")
    assert too_faint(colors, text, TEXT_CONTRAST) == {}
    steps = range(1, 7)
    between = [least_difference(colors[f"added {step}"], colors[f"gone {step}"])[0] for step in steps]
    assert between == sorted(between) and between[0] > BOX_DIFFERENCE and between[-1] > 2 * KIND_DIFFERENCE
    for word in ("added", "gone"):
        apart = [least_difference(colors[f"{word} {step}"], colors["same"])[0] for step in steps]
        assert apart == sorted(apart) and apart[0] > SAME_DIFFERENCE and apart[-1] > KIND_DIFFERENCE, word
    badges = rgb_of(shown, """() => { const style = getComputedStyle(document.documentElement);
      return { added: style.getPropertyValue("--added"), gone: style.getPropertyValue("--gone"),
               back: style.getPropertyValue("--panel") }; }""")  # fmt: skip
    back = badges.pop("back")
    assert close_pairs(badges, KIND_DIFFERENCE) == []
    assert too_faint(badges, back, TEXT_CONTRAST) == {}
