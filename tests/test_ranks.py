"""Ranks of torchrun, MPI and Slurm: recognized, and shown side by side."""

import importlib.util
import sys

import pytest

from conftest import TESTS
from expectations import tagged_lines
from heaptide_run import command, traced

NONE = dict.fromkeys(
    ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
)


@pytest.mark.parametrize(
    ("variables", "rank"),
    [
        ({}, None),
        ({"RANK": "3", "WORLD_SIZE": "8"}, 3),
        ({"RANK": "3"}, None),  # anybody's variable
        ({"OMPI_COMM_WORLD_RANK": "2", "PMIX_RANK": "2"}, 2),
        ({"MV2_COMM_WORLD_RANK": "5"}, 5),
        ({"PMI_RANK": "7", "SLURM_PROCID": "0"}, 7),  # mpiexec in the script that sbatch started
        ({"SLURM_PROCID": "11"}, 11),
        ({"SLURM_PROCID": "none"}, None),
    ],
    ids=str,
)
def test_rank_is_recognized(variables, rank, planted, out):
    assert traced([planted("two_leaks.c")], out=out, env=NONE | variables).report()["rank"] == rank


def test_ranks_stand_side_by_side(planted, out):
    """Three ranks of one job; rank 1 has a helper besides, which is wider than its main process."""
    script = (
        f"for rank in 0 1 2; do RANK=$rank WORLD_SIZE=3 {planted('two_leaks.c')}; done; "
        f"RANK=1 WORLD_SIZE=3 {planted('big_block.c')}"
    )
    run = traced(["/bin/sh", "-c", script], out=out, env=NONE)
    peaks = {}
    for report in run.reports():
        peaks[report["rank"]] = max(peaks.get(report["rank"], 0), report["summary"]["peak_bytes"])
    lines = command("report", out).stdout.decode().splitlines()
    assert lines[0].startswith("RANKS  3, the widest is rank 1 with a peak of ")
    rows = [line.split() for line in lines[2:5]]
    assert [row[0] for row in rows] == ["0", "1", "2"]
    assert [row[-1] == "widest" for row in rows] == [False, True, False]
    assert peaks[1] > max(peaks[0], peaks[2])


def test_one_rank_is_no_table(planted, out):
    traced([planted("two_leaks.c")], out=out, env=NONE | {"SLURM_PROCID": "0"})
    assert "RANKS" not in command("report", out).stdout.decode()


def test_torchrun_names_the_rank_that_keeps_memory(out):
    """Four gloo ranks of which one keeps 20 tensors of 1 MiB: it is the widest, and its peak has them at their line."""
    if not importlib.util.find_spec("torch"):
        pytest.skip("torch is not installed: tests/requirements.txt has it for the Pythons it exists for")
    script = TESTS / "python" / "torchrun_ranks.py"
    run = traced(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "4", script],
        out=out, options=["--py"], env=NONE, timeout=280,
    )  # fmt: skip
    assert run.status == 0, run.describe()
    line = tagged_lines(script.read_text())["@kept"]
    kept = {}
    for report in run.reports("--top", "100"):
        if report["rank"] is not None:
            rows = [row for row in report["peak"] if any(frame["line"] == line for frame in row["stack"])
                    and any((frame["file"] or "").endswith("torchrun_ranks.py") for frame in row["stack"])]  # fmt: skip
            kept[report["rank"]] = [(row["bytes"], row["blocks"]) for row in rows if row["kind"] == "heap"]
    assert kept == {0: [], 1: [], 2: [(20 << 20, 20)], 3: []}
    text = command("report", out).stdout.decode()
    assert text.startswith("RANKS  4, the widest is rank 2 with a peak of ")
    (section,) = [part for part in text.split("\n\n\n") if "20.0 MiB  in 20 blocks of heap\n" in part]
    assert "rank 2" in section and f"torchrun_ranks.py:{line}\n" in section
