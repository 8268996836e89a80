"""A forked child's peak is its own, whatever its parent's threads did before."""

from heaptide_run import traced

ATTEMPTS = 10  # whether the parent's threads come to take turns often enough is the scheduler's


def test_peak_of_a_threaded_programs_child(case, tmp_path):
    busy_enough = False
    for attempt in range(ATTEMPTS):
        run = traced([case("fork_peak.c", flags=["-pthread"])], out=tmp_path / str(attempt))
        assert run.status == 0, run.describe()
        (parent,) = [report for report in run.reports() if report["main"]]
        (child,) = [report for report in run.reports() if not report["main"]]
        assert child["summary"]["peak_bytes"] == (3 << 20) + (64 << 10) and child["notes"] == []
        busy_enough = any("peak was not followed" in note for note in parent["notes"])
        if busy_enough:
            break
    assert busy_enough, "the parent's peak was followed each time"
