"""A test that takes long is marked as slow, or fails; whatever else the machine does."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import pytest

from tests import processor_time
from tests.processor_time import MARGIN, SECONDS, ProcessorTime, processor_seconds

pytest_plugins = ["pytester"]

CASES = """
import pytest
from tests.test_processor_time import clock

@pytest.fixture
def own():
    clock.seconds += {setup}

@pytest.fixture(scope="module")
def outer():
    clock.seconds += 50

@pytest.fixture(scope="module")
def shared(request):
    clock.seconds += 50
    request.getfixturevalue("outer")

{mark}
def test_something(own, shared):
    clock.seconds += {call}
"""
UNMARKED, SLOW = "", "@pytest.mark.slow"


@dataclass
class Clock:
    """Processor time that stands still but for what a case adds, and what the fixed work takes."""

    seconds: float = 0.0
    work: float = processor_time.FIXED_WORK_SECONDS


clock = Clock()


def run(pytester: pytest.Pytester, setup: float, call: float, mark: str, *options: str) -> pytest.RunResult:
    pytester.makeini("[pytest]\nmarkers = slow")
    pytester.makepyfile(CASES.format(setup=setup, call=call, mark=mark))
    plugin = ProcessorTime(lambda: clock.seconds, lambda: clock.work)
    alone = ("-p", "no:xdist", "-p", "no:django")
    return pytester.runpytest_inprocess(*alone, *options, plugins=[plugin, Options()])


class Options:
    def pytest_addoption(self, parser: pytest.Parser) -> None:
        parser.addoption(processor_time.OPTION, action="store_true")


@pytest.mark.parametrize(
    ("setup", "call", "mark", "work", "passes"),
    [
        pytest.param(0, SECONDS, UNMARKED, 1, True, id="at the limit"),
        pytest.param(0, SECONDS * MARGIN + 0.1, UNMARKED, 1, False, id="far above it"),
        pytest.param(SECONDS * MARGIN + 0.1, 0, UNMARKED, 1, False, id="its own fixture counts"),
        pytest.param(0, SECONDS * MARGIN + 0.1, SLOW, 1, True, id="marked"),
        pytest.param(0, SECONDS * MARGIN + 0.1, UNMARKED, 1.5, True, id="on a busy machine"),
        pytest.param(0, SECONDS * MARGIN + 0.1, UNMARKED, 0.5, False, id="on a faster one"),
    ],
)
def test_what_takes_more_than_its_processor_time_is_marked_or_fails(
    pytester: pytest.Pytester, setup: float, call: float, mark: str, work: float, passes: bool
) -> None:
    clock.work = work * processor_time.FIXED_WORK_SECONDS
    done = run(pytester, setup, call, mark, processor_time.OPTION)
    assert done.parseoutcomes() == {"passed" if passes else "failed": 1}
    assert ("let it do less, or mark it @pytest.mark.slow" in done.stdout.str()) != passes


def test_one_file_by_itself_is_held_to_no_limit(pytester: pytest.Pytester) -> None:
    assert run(pytester, 0, 100, UNMARKED).parseoutcomes() == {"passed": 1}


def test_processes_that_a_test_starts_count_as_well() -> None:
    begin = processor_seconds()
    burn = "import time\nwhile time.process_time() < 0.4: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    assert processor_seconds() - begin >= 0.3  # of which the system may count a little less
