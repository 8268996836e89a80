"""GROWTH's verdict on programs whose memory follows a known curve."""

import pytest

import expectations
import heaptide_run
from conftest import PLANTED

SPAN_SECONDS = "1.5"
SAMPLING = ["--every", "20"]

CURVES = {
    "flat": "pass",
    "rising": "fail",
    "slight": "pass",
    "wide": "pass",
    "setup": "pass",
    "fill": "pass",
    "sawtooth": "pass",
    "mmap": "fail",
    "hidden": "pass",
}


def grown(planted, out, curve, seconds=SPAN_SECONDS, options=SAMPLING):
    return heaptide_run.traced([planted("growth.c"), curve, seconds], out=out, options=["-q", *options])


@pytest.mark.parametrize("curve", CURVES)
def test_verdict(curve, planted, out):
    report = grown(planted, out, curve).report()
    growth = report["growth"]["cpu"]
    assert growth["verdict"] == CURVES[curve], growth
    assert report["growth"]["device"]["verdict"] in ("n/a", "pass")


def test_rise_is_measured(planted, out):
    """10 MiB over 1.5 s; the projection is over the last 80 % of it."""
    growth = grown(planted, out, "rising").report()["growth"]["cpu"]
    assert 0.8 < growth["slope_bytes_per_s"] / (10 * 2**20 / 1.5) < 1.2, growth
    assert 0.8 < growth["projected_bytes"] / (8 * 2**20) < 1.2, growth
    start, end = growth["window"]
    assert 0.15 < start / end < 0.3, growth


def test_a_cache_that_fills_passes_in_a_later_window(planted, out):
    growth = grown(planted, out, "fill").report()["growth"]["cpu"]
    start, end = growth["window"]
    assert growth["verdict"] == "pass" and start / end > 0.3, growth
    assert "window from" in growth["why"], growth


def test_growing_sites_are_named_even_where_the_total_passes(planted, out):
    program = planted("growth.c")
    run = heaptide_run.traced([program, "hidden", SPAN_SECONDS], out=out, options=["-q", *SAMPLING])
    report = run.report()
    assert report["growth"]["cpu"]["verdict"] == "pass", report["growth"]["cpu"]
    steepest = report["growth"]["sites"][0]
    assert steepest["site"]["function"] == "grow", report["growth"]["sites"]
    assert 0.7 < steepest["bytes_per_s"] / (10 * 2**20 / 1.5) < 1.3, steepest


def test_short_run_is_not_judged(planted, out):
    growth = grown(planted, out, "rising", seconds="0.05", options=["--every", "50"]).report()["growth"]["cpu"]
    assert growth["verdict"] == "n/a" and growth["why"], growth


def test_growth_limit_replaces_the_rule(planted, out):
    """8 MiB projected: over a limit of 1 MiB, under one of 100; 100 KiB base and 50 KiB more: under the rule's 64 KiB,
    over a limit of 0."""
    run = grown(planted, out, "rising")

    def judged(limit):
        done = heaptide_run.command("report", out, "--fail-on", "growth", "--growth-limit", limit)
        return done.status

    assert (judged("1"), judged("100")) == (1, 0), run.describe()
    assert run.report("--growth-limit", "100")["growth"]["cpu"]["verdict"] == "pass"


def test_growth_decides_the_exit_status(planted, out):
    run = heaptide_run.command(
        "run", "--out", out, "--fail-on", "growth", *SAMPLING, "--", planted("growth.c"), "rising", SPAN_SECONDS
    )
    assert run.status == 1, run.describe()


def test_timeline_follows_the_curve(planted, out):
    timeline = grown(planted, out, "rising").report()["timeline"]
    assert len(timeline["seconds"]) > 30
    assert 5 * 2**20 <= timeline["cpu"][1] < 7 * 2**20
    assert timeline["cpu"][-1] > 14 * 2**20
    growing = [row for row in timeline["sites"] if row["site"]["function"] == "grow"]
    assert growing and growing[0]["bytes"][-1] > 9 * 2**20


def test_text_names_the_growing_site(planted, out):
    grown(planted, out, "rising")
    text = heaptide_run.command("report", out).stdout.decode()
    growth = text[text.index("GROWTH") : text.index("PEAK")]
    lines = expectations.tagged_lines((PLANTED / "growth.c").read_text())
    assert f"growth.c:{lines['@grow']}" in growth, growth
