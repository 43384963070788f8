"""The demo's calendar: what it stores has happened over the last days, although it is made in seconds.

Only here does the site work with another time than the machine's, and only in the process of the demo, which
serves nobody meanwhile.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from django.utils import timezone

_machine_time = timezone.now


class DemoClock:
    """Begins `before` now and moves when it is asked to. While it is entered, Django's time is its time."""

    def __init__(self, before: timedelta) -> None:
        self.end = _machine_time()
        self.time = self.end - before

    def __enter__(self) -> Self:
        timezone.now = self.now
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        timezone.now = _machine_time

    def now(self) -> datetime:
        """The time in the demo's calendar; each look takes a little, so that no two things are at once."""
        self.time = min(self.time + timedelta(milliseconds=1), self.end)
        return self.time

    def pass_time(self, time: timedelta) -> None:
        """Move the clock forward by `time`, at most to the present."""
        self.time = min(self.time + time, self.end)

    def pass_until(self, before: timedelta) -> None:
        """Go on to the moment that is `before` the time of the machine, unless that is past."""
        self.time = max(self.time, self.end - before)
