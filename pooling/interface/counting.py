from __future__ import annotations

import time
from typing import NamedTuple

from django.core.cache import cache


class Count(NamedTuple):
    """The number in this stretch of time, and the seconds until the next begins."""

    number: int
    wait: int


def counted(what: str, seconds: int, times: int = 1) -> Count:
    """Count `what` that often (0: only look), within stretches of a length in seconds, by the clock.

    In the cache: each process counts alone unless they share one. 0 where it is away, so that a limit stops
    nobody by mistake.
    """
    now = int(time.time())
    key = f"count/{what}/{seconds}/{now // seconds}"
    cache.add(key, 0, 2 * seconds)
    try:
        number = cache.incr(key, times)
    except ValueError:
        number = 0
    return Count(number, seconds - now % seconds)
