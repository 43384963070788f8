"""A test takes two seconds of processor time at most, or is marked `slow`.

Counted is the processor time of this process and of those that the test started and waited for, from the
test's own fixtures to its end. What a fixture of a module or of the whole run takes is nobody's. The clock
on the wall says nothing here: it depends on who else uses the machine.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any

import pytest

SECONDS = 2.0
# The same work takes up to twice the processor time where another process uses the same core and its cache,
# and a test that comes first pays for what is loaded once. So what is named is more than the limit, and what
# fails is more than three times of it.
MARGIN = 3.0
# What `fixed_work` takes on the machine that the limit is for. On a slower or busier one the limit is higher.
FIXED_WORK_SECONDS = 0.1
OPTION = "--limit-processor-time"
MEASURED = "processor seconds"


def processor_seconds() -> float:
    """Of this process, and of its children that have ended."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def fixed_work() -> float:
    """The processor seconds that a fixed piece of work takes here and now."""
    begin = time.process_time()
    sum(number * number % 7 for number in range(1_850_000))
    return time.process_time() - begin


class ProcessorTime:
    """The plugin; `begin` is when the running test began, `apart` what was not its own."""

    def __init__(
        self, seconds: Callable[[], float] = processor_seconds, work: Callable[[], float] = fixed_work
    ) -> None:
        self.seconds, self.work = seconds, work
        self.begin = self.apart = 0.0
        self.is_shared = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self.begin, self.apart = self.seconds(), 0.0
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        with self._shared(fixturedef.scope != "function" and not self.is_shared):
            return (yield)

    @contextmanager
    def _shared(self, is_outermost: bool) -> Generator[None]:
        if not is_outermost:
            yield
            return
        begin, self.is_shared = self.seconds(), True
        try:
            yield
        finally:
            self.apart += self.seconds() - begin
            self.is_shared = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when != "call":
            return report
        taken = self.seconds() - self.begin - self.apart
        report.user_properties.append((MEASURED, taken))
        is_limited = item.config.getoption(OPTION) and item.get_closest_marker("slow") is None
        if is_limited and report.passed and taken > self._limit(taken):
            report.outcome = "failed"
            report.longrepr = (
                f"{item.nodeid} took {taken:.1f} s of processor time. A test takes {SECONDS:g} s at most: "
                "let it do less, or mark it @pytest.mark.slow, and only `make slow` runs it."
            )
        return report

    def _limit(self, taken: float) -> float:
        """In the processor time of this machine at this moment."""
        limit = SECONDS * MARGIN
        return limit * max(1.0, self.work() / FIXED_WORK_SECONDS) if taken > limit else limit


def longest(reports: Iterable[pytest.TestReport], count: int) -> list[str]:
    """A line for each of the tests that took the most."""
    measured = [
        (value, report.nodeid)
        for report in reports
        for name, value in report.user_properties
        if name == MEASURED and report.when == "call"
    ]
    return [f"{value:6.2f} s  {name}" for value, name in sorted(measured, reverse=True)[:count]]
