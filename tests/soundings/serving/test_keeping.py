"""The process that keeps the others: each is started again by itself, and none outlives it."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from soundings.serving import keeping
from soundings.serving.keeping import Child, Keeper, KeptProcess, Plan
from tests.patience import PATIENCE_SECONDS
from tests.soundings.processes import free_port

# Modules that `python -m` runs in place of gunicorn and the worker.
ENDS_AT_ONCE = Child("The background worker", ["timeit", "-n1", "-r1"])
STAYS = Child("The web server", ["http.server", "0"])


@pytest.fixture(autouse=True)
def _signals_as_they_were() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sentences: list[str] = []
    monkeypatch.setattr(keeping, "say", sentences.append)
    return sentences


class Clocked(Keeper):
    """A keeper whose pauses take no time; it stops when enough was said."""

    def __init__(self, plan: Plan, monkeypatch: pytest.MonkeyPatch, said: list[str], enough: int) -> None:
        super().__init__(plan)
        self.now = 0.0
        self.said, self.enough = said, enough
        self.woken = SimpleNamespace(wait=self.wait, set=lambda: None)  # type: ignore[assignment]
        monkeypatch.setattr(keeping, "time", SimpleNamespace(monotonic=lambda: self.now, sleep=self.wait))

    def wait(self, seconds: float) -> None:
        """Let time pass, and what ends at once end."""
        self.now += seconds
        for kept in self.kept:
            if kept.process and (kept.child == ENDS_AT_ONCE or self.stops):
                kept.process.wait(PATIENCE_SECONDS)
        if len(self.said) >= self.enough:
            self.stops += 1


def test_a_process_that_keeps_ending_is_started_again_after_growing_pauses(
    monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    keeper = Clocked(Plan([STAYS, ENDS_AT_ONCE], None, []), monkeypatch, said, enough=8)
    assert keeper.run() == 0
    pauses = [1, 2, 4, 8, 16, 32, 60, 60]
    assert said[:8] == [
        f"The background worker stopped (code 0); starting it again in {pause} s." for pause in pauses
    ]
    # The other one was left alone all the time, and ended with the keeper.
    web = keeper.kept[0].process
    assert web is not None
    assert web.returncode == -signal.SIGTERM


def test_a_process_that_ran_for_a_minute_is_started_again_after_the_first_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(keeping, "time", SimpleNamespace(monotonic=lambda: now))
    kept = KeptProcess(ENDS_AT_ONCE, {})
    pauses = []
    for lasted in (0, 0, keeping.SETTLED_SECONDS + 1):
        kept.look()
        now += lasted
        assert kept.process is not None
        kept.process.wait(PATIENCE_SECONDS)
        pauses.append(re.findall(r"in (\d+) s", kept.look()))
        now += keeping.LONGEST_PAUSE_SECONDS
    assert pauses == [["1"], ["2"], ["1"]]


def test_a_web_server_that_does_not_start_is_told_and_everything_stops(said: list[str]) -> None:
    broken = Child("The web server", ENDS_AT_ONCE.command)
    keeper = Keeper(Plan([broken, STAYS], ("127.0.0.1", free_port(), "localhost"), ["It is there."]))
    assert keeper.run() == 1
    assert said == ["The web server did not start (code 0), so everything stops."]
    assert all(kept.process and kept.process.returncode is not None for kept in keeper.kept)


def test_everything_stops_when_a_page_fails_and_no_address_is_told(said: list[str]) -> None:
    port = free_port()
    other = Child("The web server", ["http.server", str(port), "--bind", "127.0.0.1"])
    keeper = Keeper(Plan([other], ("127.0.0.1", port, "localhost"), ["It is there."]))
    assert keeper.run() == 1
    assert said == [
        "The site's page /health/ answers with status 404; the errors above say why. So everything stops."
    ]


def test_a_plan_is_read_as_it_was_written() -> None:
    plan = Plan([STAYS, Child("worker", ["a", "b"], 10)], ("::1", 80, "a.org"), ["One.", "Two."], {"A": "b"})
    assert Plan.read(plan.written()) == plan
