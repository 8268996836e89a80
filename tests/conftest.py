"""Fixtures of the whole suite. The command under test is $HEAPTIDE, or build/heaptide of this checkout."""

from pathlib import Path

import pytest

import heaptide_run
import program_build

TESTS = Path(__file__).resolve().parent
PLANTED = TESTS / "planted"
CASES = TESTS / "cases"


def pytest_collection_modifyitems(items):
    """Long tests first, so that parallel workers end together."""
    items.sort(key=lambda item: item.get_closest_marker("heavy") is None)


def pytest_report_header():
    return f"heaptide under test: {heaptide_run.COMMAND}"


@pytest.fixture
def out(tmp_path):
    """A report folder that does not exist yet."""
    return tmp_path / "report"


@pytest.fixture
def planted():
    """planted("name.c") builds tests/planted/name.c and returns the program."""
    return lambda name, **how: program_build.build(PLANTED / name, **how)


@pytest.fixture
def case():
    """case("name.c") builds tests/cases/name.c and returns the program."""
    return lambda name, **how: program_build.build(CASES / name, **how)
