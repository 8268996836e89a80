"""Fixtures of the whole suite. The command under test is $HEAPTIDE, or build/heaptide of this checkout."""

import signal
from pathlib import Path

import pytest

import heaptide_run
import program_build

# The browser, and pages in it: one browser for all tests of a worker.
pytest_plugins = ["page_browser"]

TESTS = Path(__file__).resolve().parent
PLANTED = TESTS / "planted"
CASES = TESTS / "cases"


def pytest_addoption(parser):
    parser.addoption(
        "--stress-calls",
        type=int,
        default=2000,  # 50 rounds stay under three minutes on two cores
        help="calls of each thread in the 50 rounds of test_stress.py; 1000000 is full size, about an hour",
    )
    parser.addoption(
        "--attach-rounds",
        type=int,
        default=3,
        help="how often each server of test_attach_rounds.py is attached to and let go of; 100 is full size",
    )


def pytest_configure():
    """Under nohup, or in the background of a script, some signals are ignored, and every program would inherit that."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


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
